"""Who else has the studio of a video open; the page asks every few seconds, which also shows that it is open itself."""

from starlette.responses import Response

from cutroom.console.framework.page_context import PageContext, page
from cutroom.library.service import get_video
from cutroom.platform.presence.present_people import PresentPerson
from cutroom.reviews.rules import GuestRole

MAX_SHOWN = 20


async def show_presence(context: PageContext) -> Response:
    video_id, call = context.request.path_params["video_id"], context.call
    await get_video(call.connection, call.principal, video_id)
    guest = context.guest
    person = PresentPerson(guest.id if guest is not None else context.me.user_id, context.author_name)
    others = await context.runtime.presence.show(f"studio:{video_id}", person, at_most=MAX_SHOWN)
    return context.page("reviews/presence.html", video_id=video_id, others=others)


ROUTES = [page("/videos/{video_id}/studio/presence", show_presence, guests=GuestRole.VIEW)]
