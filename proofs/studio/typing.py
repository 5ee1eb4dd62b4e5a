"""Measures how soon a pressed key is on the screen."""

import statistics

from proofs.studio.stage import Editor

TEXT = "A sentence that is typed in the middle of a long transcript. "
KEY_DELAY_MS = 40
# From the time at which the browser received the key until after the frame that shows it.
_MEASURE = """() => {
    window.keystrokes = [];
    document.addEventListener("keydown", ({ timeStamp }) => requestAnimationFrame(() => {
        const channel = new MessageChannel();
        channel.port1.onmessage = () => window.keystrokes.push(performance.now() - timeStamp);
        channel.port2.postMessage(null);
    }), true);
}"""


async def measure_keystrokes(editor: Editor, *, line: int, keys: int) -> list[float]:
    """Milliseconds of each key, in a text that grows over several lines and moves all rows after it."""
    await editor.page.focus(editor.cell(line))
    await editor.page.keyboard.press("Enter")
    await editor.page.evaluate(_MEASURE)
    text = (TEXT * (keys // len(TEXT) + 1))[:keys]
    await editor.page.keyboard.type(text, delay=KEY_DELAY_MS)
    await editor.session.until(f"window.keystrokes.length >= {keys}")
    found: list[float] = await editor.page.evaluate("window.keystrokes")
    await editor.page.keyboard.press("Enter")
    await editor.saved()
    return found


def p95(values: list[float]) -> float:
    return statistics.quantiles(values, n=20)[-1]
