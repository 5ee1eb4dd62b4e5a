"""Names the browser and system of a session from its User-Agent header."""

_BROWSERS = {"Edg": "Edge", "OPR": "Opera", "Firefox": "Firefox", "Chrome": "Chrome", "Safari": "Safari"}  # in order
_SYSTEMS = {
    "Android": "Android",
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Windows": "Windows",
    "Mac OS X": "macOS",
    "CrOS": "ChromeOS",
    "Linux": "Linux",
}
UNKNOWN = "Unknown browser"


def describe_browser(user_agent: str | None) -> str:
    """`Firefox on Linux`. The header is only a hint: any client can send any text."""
    text = user_agent or ""
    browser = next((name for token, name in _BROWSERS.items() if f"{token}/" in text), None)
    system = next((name for token, name in _SYSTEMS.items() if token in text), None)
    if browser is None:
        return UNKNOWN
    return f"{browser} on {system}" if system else browser
