"""Calls of all tools of vikunja-mcp 0.10.3, each with arguments that work."""

from collections.abc import Callable
from typing import Any

READS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("instance_list", {}),
    ("ctx_get", {}),
    ("instance_check_health", {}),
    ("project_list", {}),
    ("project_list_all", {}),
    ("project_get", {"project_id": 1}),
    ("project_analyze", {"project_id": 1}),
    ("project_export", {"include_comments": True}),
    ("task_list", {"project_id": 1, "include_completed": True}),
    ("task_get", {"task_id": 3}),
    ("task_list_relations", {"task_id": 3}),
    ("comment_list", {"task_id": 3}),
    ("comment_recent", {"project_id": 1}),
    ("label_list", {}),
    ("view_list", {"project_id": 1}),
    ("view_get_tasks", {"project_id": 1, "view_id": 4}),
    ("view_get_tasks", {"project_id": 1, "view_id": 1}),
    ("kanban_tasks_by_bucket", {"project_id": 1, "view_id": 4}),
    ("kanban_get", {"project_id": 1}),
    ("kanban_list_buckets", {"project_id": 1, "view_id": 4}),
    ("config_list", {}),
    ("config_get", {"project_id": 1}),
    ("search_all_tasks", {"allow_truncated": True}),
    ("search_all_tasks", {"filter": "priority > 2", "allow_truncated": True}),
    ("search_all_tasks", {"filter_due": "overdue"}),
    ("search_all", {"query": "invoices"}),
    ("task_query", {"query": "overdue"}),
    ("task_query", {"query": "today"}),
    ("today_actions", {}),
    ("today_get_weights", {}),
    ("today_reckoning", {}),
    ("triage_parked", {}),
    ("assign_queue", {"project_id": 1}),
)
LOCAL = {"instance_list", "ctx_get", "config_list", "config_get", "today_get_weights", "today_reckoning"}
"""They read its own file, and ask Vikunja nothing."""
CACHED = {"task_query", "assign_queue"}
"""They may answer from what an earlier call has fetched."""
BROKEN = {
    "batch_label_to_buckets": "iterates over the labels of a task without any, which are null in the real server too",
    "instance_rename": "wants `admin: true` in its own configuration; it asks Vikunja nothing",
    "instance_disconnect": "wants `admin: true` in its own configuration; it asks Vikunja nothing",
}
"""What fails in vikunja-mcp itself, and why."""


def write_with_all(run: Callable[..., Any], url: str, token: str) -> None:
    """Call every tool that writes, each on what another has made. `token` is one for `instance_connect`."""
    exported = run("project_export")
    project = run("project_create", title="Checked", description="<p>x</p>", hex_color="#aabbcc")["id"]
    run("project_update", project_id=project, title="Checked twice")
    run("ctx_set", project_id=project)
    label = run("label_create", title="checked", hex_color="#00ff00")["id"]
    task = run("task_create", project_id=project, title="One", due_date="2027-01-02T10:00:00Z")["id"]
    other = run("task_create", project_id=project, title="Two", priority=3)["id"]
    _write_task(run, project, task, other, label)
    _write_board(run, project, task, other)
    view = run("view_create", project_id=project, title="Mine", view_kind="list", filter_query="done = false")
    run("view_update", project_id=project, view_id=view["id"], title="Mine!")
    run("view_delete", project_id=project, view_id=view["id"])
    run("kanban_setup", project_title="Board", template="gtd")
    labels = [{"name": "c1", "color": "#333333"}]
    run("project_setup", project_id=project, buckets=["New"], labels=labels, tasks=[{"title": "S1"}])
    _write_own_file(run, project)
    run("today_snooze", task_id=other, reason="blocked", until="2027-02-01")
    run("assign_apply", task_id=other, disposition="week")
    run("task_move", task_id=other, target_project_id=1)
    run("batch_complete_by_label", project_id=project, label_filter="a1")
    run("task_complete", task_id=task)
    run("project_import", export_data=exported, dry_run=True)
    run("task_delete", task_id=task)
    run("label_delete", label_id=label)
    run("project_delete", project_id=project)
    run("instance_connect", name="again", url=url, token=token)
    run("instance_switch", name="again")
    run("instance_rename", old_name="again", new_name="bobs")
    run("instance_disconnect", name="bobs")


def _write_task(run: Callable[..., Any], project: int, task: int, other: int, label: int) -> None:
    run("task_update", task_id=task, title="One, changed", priority=4)
    run("task_add_label", task_id=task, label_id=label)
    run("task_assign_user", task_id=task, user_id=1)
    run("task_unassign_user", task_id=task, user_id=1)
    run("task_set_reminders", task_id=task, reminders=["2027-01-01T09:00:00Z"])
    run("task_create_relation", task_id=task, relation_kind="subtask", other_task_id=other)
    comment = run("comment_add", task_id=task, comment_text="hello")["id"]
    run("comment_update", task_id=task, comment_id=comment, comment_text="hello again")
    run("comment_delete", task_id=task, comment_id=comment)
    run("cal_add_event", project_id=project, title="Event", due_date="2027-03-01T10:00:00Z")
    colours = [{"title": "a1", "hex_color": "#111111"}, {"title": "b1", "hex_color": "#222222"}]
    run("batch_create_labels", labels=colours)
    run("batch_create_tasks", project_id=project, tasks=[{"title": "B1", "labels": ["a1"]}, {"title": "B2"}])
    updates = [{"task_id": task, "priority": 2}, {"task_id": other, "title": "Two!"}]
    run("batch_update_tasks", updates=updates)
    run("batch_relabel", project_id=project, task_ids=[task, other], add_labels=["b1"])


def _write_board(run: Callable[..., Any], project: int, task: int, other: int) -> None:
    views = run("view_list", project_id=project)
    board = next(view for view in views if view["view_kind"] == "kanban")["id"]
    where = {"project_id": project, "view_id": board}
    buckets = run("kanban_list_buckets", **where)
    run("task_set_position", task_id=task, **where, bucket_id=buckets[1]["id"])
    run("view_set_position", task_id=task, view_id=board, position=12.5)
    made = run("kanban_create_bucket", **where, title="Later")["id"]
    run("batch_assign_buckets", **where, assignments=[{"task_id": other, "bucket_id": made}])
    run("batch_label_to_buckets", **where, label_to_bucket_map={"b1": made})
    run("batch_reorder_tasks", view_id=board, positions=[{"task_id": task, "position": 3}])
    run("kanban_sort_bucket", **where, bucket_id=made, sort_by="title")
    run("batch_move_by_label", **where, label_filter="b1", bucket_id=buckets[0]["id"])
    run("kanban_delete_bucket", **where, bucket_id=made)


def _write_own_file(run: Callable[..., Any], project: int) -> None:
    strategy = {"default_bucket": "To-Do", "sort_strategy": {"default": "manual"}}
    run("config_set", project_id=project, config=strategy)
    run("config_update", project_id=project, updates={"default_bucket": "Doing"})
    run("config_delete", project_id=project)
    trip = {"tasks": [{"title": "Pack", "offset": "-1d"}]}
    run("config_set", project_id=project, config={"templates": {"trip": trip}})
    anchor = "2027-05-01T08:00:00Z"
    run("project_create_from_template", project_id=project, template="trip", anchor_time=anchor)
    run("today_set_weights", weights={"overdue": 2.0})
    run("triage_park", project_id=project)
    run("triage_park", project_id=project, parked=False)
