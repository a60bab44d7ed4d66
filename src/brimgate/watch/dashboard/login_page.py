"""The page that asks for a key, and the one that tells a person what went wrong."""

from brimgate.watch.dashboard.markup import element
from brimgate.watch.dashboard.page_frame import ROOT, PageAddress, Viewer, page

_NOBODY = Viewer()


def login_page(wanted: str = ROOT, trouble: str = "") -> bytes:
    """Ask for the key or token that clients use. It goes into a cookie that scripts cannot read.

    `wanted` is the page that follows.
    """
    key = element(
        "label",
        element("span", "Key or token"),
        element(
            "input",
            type="password",
            name="token",
            required=True,
            autocomplete="current-password",
            autofocus=True,
        ),
    )
    form = element(
        "form",
        key,
        element("input", type="hidden", name="page", value=wanted),
        element("button", "Log in", type="submit"),
        method="post",
        action=f"{ROOT}/login",
    )
    return page(
        "Log in",
        _NOBODY,
        PageAddress(),
        element("h1", "Log in"),
        element(
            "p",
            "Enter the key or token that your client uses. You see your own calls; admins see those of all.",
        ),
        element("p", trouble, class_="trouble", role="alert") if trouble else None,
        form,
    )


def trouble_page(title: str, reason: str) -> bytes:
    back = element("p", element("a", "← Overview", href=ROOT))
    return page(title, _NOBODY, PageAddress(), element("h1", title), element("p", reason), back)
