"""What happens when a task is marked done: the time is noted, and one that repeats begins anew."""

import re
from datetime import datetime, timedelta
from typing import Final

from brimgate.sandboxes.vikunja.dates import ZERO, Clock, add_months, read, write
from brimgate.sandboxes.vikunja.store import Reminder, Task

INTERVAL, MONTHLY, FROM_NOW = 0, 1, 2
MOST_SECONDS: Final = 10 * 365 * 24 * 3_600
_CHECKED: Final = re.compile(r'(data-checked=")true(")')
_BOX: Final = re.compile(r"""(<input[^>]*type=["']checkbox["'][^>]*?)\s+checked(?:=["'][^"']*["'])?""")
_DATES: Final = ("due_date", "start_date", "end_date")


def is_repeating(task: Task) -> bool:
    return task.repeat_after > 0 or task.repeat_mode == MONTHLY


def change_done(old: Task, task: Task, clock: Clock) -> None:
    """Carry out the change from `old` to `task`, which has the new value of `done` already."""
    if not old.done and task.done:
        _repeat(old, task, clock.now())
        if is_repeating(old) and not task.done:
            task.description = _BOX.sub(r"\1", _CHECKED.sub(r"\1false\2", task.description))
        task.done_at = clock.text()  # also of one that repeats, which is not done any more
    elif old.done and not task.done:
        task.done_at = ZERO


def _repeat(old: Task, task: Task, now: datetime) -> None:
    """Move the dates by the rule that the task had before the change."""
    if old.repeat_mode == MONTHLY:
        _repeat_monthly(old, task)
    elif old.repeat_after and old.repeat_mode == FROM_NOW:
        _repeat_from_now(old, task, now)
    elif old.repeat_after and old.repeat_mode == INTERVAL:
        step = timedelta(seconds=old.repeat_after)
        for name in _DATES:
            if (date := getattr(old, name)) != ZERO:
                setattr(task, name, _after(date, step, now))
        task.reminders = [_moved(one, _after(one.reminder, step, now)) for one in old.reminders]
        task.done = False


def _after(date: str, step: timedelta, now: datetime) -> str:
    """Add the interval, as often as it takes to get past now."""
    if date == ZERO:
        return date
    moment = read(date)
    times = 1 if moment >= now else (now - moment) // step + 1
    return write(moment + times * step)


def _moved(reminder: Reminder, to: str) -> Reminder:
    return Reminder(to, reminder.relative_period, reminder.relative_to)


def _month_later(date: str) -> str:
    return date if date == ZERO else write(add_months(read(date), 1))


def _repeat_monthly(old: Task, task: Task) -> None:
    task.due_date = _month_later(old.due_date) if old.due_date != ZERO else task.due_date
    if old.start_date != ZERO:
        task.start_date = _month_later(old.start_date)
    if old.end_date != ZERO and old.start_date != ZERO:
        task.end_date = write(read(task.start_date) + (read(old.end_date) - read(old.start_date)))
    elif old.end_date != ZERO:
        task.end_date = _month_later(old.end_date)
    task.reminders = [_moved(one, _month_later(one.reminder)) for one in old.reminders]
    task.done = False


def _repeat_from_now(old: Task, task: Task, now: datetime) -> None:
    target = now + timedelta(seconds=old.repeat_after)
    anchor = next((getattr(old, name) for name in _DATES if getattr(old, name) != ZERO), ZERO)
    if anchor != ZERO:
        shift = target - read(anchor)
        for name in _DATES:
            if (date := getattr(old, name)) != ZERO:
                setattr(task, name, write(read(date) + shift))
    dates = [one.reminder for one in old.reminders if one.reminder != ZERO]
    if dates:
        shift = target - read(min(dates))
        task.reminders = [
            one if one.reminder == ZERO else _moved(one, write(read(one.reminder) + shift))
            for one in old.reminders
        ]
    task.done = False
