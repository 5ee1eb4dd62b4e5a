"""Text is spoken about as fast as usual while a video is dubbed on the same machine."""

from proofs.repairs.stage import RepairsStage, Rows
from proofs.stage.speech_latency import FirstByte, SpeechCaller, percentile

LANGUAGE = "es"
SAMPLES = 4
MAX_RATIO = 3.0


async def check(stage: RepairsStage, rows: Rows) -> None:
    caller = await SpeechCaller.open(stage.running, stage.client)
    idle = await caller.speak_times(SAMPLES)
    created = await stage.client.post(f"/v1/videos/{stage.talk}/dubs", json={"languages": [LANGUAGE]})
    created.raise_for_status()
    dubbing = await caller.speak_times(SAMPLES)
    dub = (await stage.client.get(f"/v1/videos/{stage.talk}/dubs/{LANGUAGE}")).json()
    ratio = round(_median_cpu(dubbing) / _median_cpu(idle), 2)
    rows.check(
        20,
        "speech during a dub waits for little other work of the worker",
        expected=f"CPU time to the first byte <= {MAX_RATIO:g} times that of an idle worker, while the dub runs",
        measured=f"{ratio} times, the dub is {dub['status']}",
        holds=ratio <= MAX_RATIO and dub["status"] == "processing",
    )


def _median_cpu(samples: list[FirstByte]) -> float:
    return percentile([each.worker_cpu_seconds for each in samples], 50)
