"""Files on tasks: uploaded as a form, downloaded as bytes."""

from email.utils import format_datetime
from typing import Any, Final
from urllib.parse import quote

from brimgate.sandboxes.vikunja.calls import Call
from brimgate.sandboxes.vikunja.dates import read
from brimgate.sandboxes.vikunja.errors import ATTACHMENT_TOO_LARGE, NO_ATTACHMENT, NOT_ALLOWED, Failed, Plain
from brimgate.sandboxes.vikunja.paging import answer_page
from brimgate.sandboxes.vikunja.shapes import attachment_shape
from brimgate.sandboxes.vikunja.store import Attachment, Task
from brimgate.sandboxes.vikunja.wire import answer_json, deleted
from brimgate.sandboxes.wire import Answer, Part

Json = dict[str, Any]
MOST_BYTES: Final = 20 * 1024 * 1024
_SIGNATURES: Final = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF8", "image/gif"),
    (b"%PDF-", "application/pdf"),
    (b"PK\x03\x04", "application/zip"),
    (b"<!DOCTYPE html", "text/html; charset=utf-8"),
)


def mime_of(content: bytes) -> str:
    """Guess a type from the content, as the real server does: the name and the sender's word count for nothing."""
    for signature, mime in _SIGNATURES:
        if content.startswith(signature):
            return mime
    try:
        content[:3_072].decode("utf-8")
    except UnicodeDecodeError as wrong:
        if wrong.start < min(len(content), 3_072) - 4:
            return "application/octet-stream"
    return "application/octet-stream" if b"\0" in content[:3_072] else "text/plain; charset=utf-8"


def list_attachments(call: Call) -> Answer:
    task = call.access.read_task(call.user.id, call.number("task"), NOT_ALLOWED)
    files = [call.store.attachments[one] for one in task.attachments]
    return answer_page(call, files, lambda one: attachment_shape(call.store, one))


def upload(call: Call) -> Answer:
    """Take each file by itself: one that is too large is told of, and the others are kept."""
    if not call.request.headers.get("content-type", "").startswith("multipart/form-data"):
        raise Plain(400, "No multipart form provided")
    task = call.access.task(call.number("task"))
    call.access.write_project(call.user.id, task.project_id, NOT_ALLOWED)
    success: list[Json] = []
    errors: list[Json] = []
    for part in call.request.parts:
        name = part.message.get_filename()
        if part.name != "files" or name is None:
            continue
        if len(part.content) > MOST_BYTES:
            message = ATTACHMENT_TOO_LARGE.message.format(MOST_BYTES, len(part.content))
            errors.append({"code": ATTACHMENT_TOO_LARGE.code, "message": message})
        else:
            success.append(_keep(call, task, name, part))
    return answer_json(200, {"errors": errors or None, "success": success or None})


def _keep(call: Call, task: Task, name: str, part: Part) -> Json:
    attachment = Attachment(
        call.store.new_id("attachments"),
        task.id,
        call.user.id,
        call.now(),
        call.store.new_id("files"),
        name,
        mime_of(part.content),
        part.content,
    )
    call.store.attachments[attachment.id] = attachment
    task.attachments.append(attachment.id)
    return attachment_shape(call.store, attachment)


def _attachment(call: Call, task: Task) -> Attachment:
    attachment = call.store.attachments.get(call.number("attachment"))
    if attachment is None or attachment.task_id != task.id:
        raise Failed(NO_ATTACHMENT)
    return attachment


def download(call: Call) -> Answer:
    task = call.access.read_task(call.user.id, call.number("task"), NOT_ALLOWED)
    attachment = _attachment(call, task)
    headers = (
        ("cache-control", "no-cache"),
        ("content-disposition", _disposition(attachment.name)),
        ("x-content-type-options", "nosniff"),
        ("last-modified", format_datetime(read(attachment.created), usegmt=True)),
    )
    return Answer(200, attachment.content, attachment.mime, headers)


def _disposition(name: str) -> str:
    """Write a file name as Go does: bare, quoted, or in percent signs."""
    if not name.isascii():
        return "attachment; filename*=utf-8''" + quote(name, safe="!#$&+-.^_`|~")
    if name.replace(".", "").replace("-", "").replace("_", "").isalnum():
        return f"attachment; filename={name}"
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'attachment; filename="{escaped}"'


def delete(call: Call) -> Answer:
    task = call.access.write_task(call.user.id, call.number("task"))
    attachment = _attachment(call, task)
    task.attachments.remove(attachment.id)
    task.cover_image_attachment_id *= task.cover_image_attachment_id != attachment.id
    del call.store.attachments[attachment.id]
    return deleted()
