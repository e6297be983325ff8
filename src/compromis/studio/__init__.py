"""The studio: a local web app to load votes, say what matters, tune, compare and save."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from compromis.errors import MissingExtra

__all__ = ["launch"]


def launch(
    files: Sequence[str] = (),
    *,
    output: str = ".",
    demo: bool = False,
    port: int = 0,
    browser: bool = True,
    max_upload: int = 2_000_000_000,
    token: str | None = None,
    started: Callable[[str, str], None] = lambda *_: None,
) -> None:
    """Serve the studio on this machine until Ctrl-C.

    Parameters
    ----------
    files : sequence of str
        Tables, models, or folders of them, that the page offers.
    output : str
        The folder into which preferences, weights and reports are saved.
    demo : bool
        Whether to start with a made-up screening.
    port : int
        The port; 0 takes a free one.
    browser : bool
        Whether to open a browser.
    max_upload : int
        The largest upload in bytes.
    token : str, optional
        The token of the address; without it a random one.
    started : callable
        Called with the address, token included, and the folder of `output`, when pages can be opened.
    """
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise MissingExtra(
            "the studio needs Starlette and uvicorn; install them with: pip install 'compromis[studio]'"
        ) from None
    from compromis.studio.guard import Secrets, read_token
    from compromis.studio.serving import listen, make_server, open_browser, serve
    from compromis.studio.storage import Places
    from compromis.studio.workspace import Workspace

    places = Places(files, output)
    keys = Secrets() if token is None else read_token(token)
    sock = listen(port)
    workspace = Workspace(places, eager=demo, most_upload=max_upload)
    if demo:
        from compromis.studio.serving import PREFERENCES, write_demo

        places.offer(write_demo(places.private()))
        workspace.preferences = PREFERENCES

    def opened(address: str) -> None:
        started(address, str(places.output))
        if browser:
            open_browser(address, places.private())

    serve(make_server(workspace, keys, sock, started=opened), workspace, sock)
