"""Requests that the app refuses."""

from __future__ import annotations


def test_requests_that_cannot_be_read(studio, votes):
    one = studio(votes)
    for path, body in [
        ("/api/models", b"{"), ("/api/models", b"[]"), ("/api/models", b'{"source": 1}'), ("/api/models", b'{"source": "1", "x": 1}'),
        ("/api/compare", b'{"label": {}}'), ("/api/save", b"null"), ("/api/jobs/1/cancel", b'{"x": 1}'),
    ]:  # fmt: skip
        answer = one.client.post(path, content=body, headers={"content-type": "application/json"})
        assert answer.status_code == 400
        assert answer.json()["error"].startswith("the request cannot be read")
    assert one.client.get("/api/jobs/99").status_code == 400
    assert one.client.get("/api/models/99/panel").status_code == 400
