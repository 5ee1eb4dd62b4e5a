"""Workflow that sends one mail of an account, with retries until it expires."""

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy

with workflow.unsafe.imports_passed_through():
    from cutroom.accounts.mails.activities import MailActivities
    from cutroom.accounts.mails.rules import MailOutcome
    from cutroom.accounts.mails.service import SEND_WORKFLOW, MailRef

ATTEMPT_TIMEOUT = timedelta(minutes=3)  # SMTP has several round trips, of at most 30 s each
RETRY = RetryPolicy(initial_interval=timedelta(seconds=2), maximum_interval=timedelta(minutes=2))


@workflow.defn(name=SEND_WORKFLOW)
class SendAccountMailWorkflow:
    """Sends one mail. Its history contains ids and the outcome, never the address, the text or the link."""

    @workflow.run
    async def run(self, ref: MailRef) -> MailOutcome:
        return await workflow.execute_activity_method(
            MailActivities.send_account_mail, ref, start_to_close_timeout=ATTEMPT_TIMEOUT, retry_policy=RETRY
        )
