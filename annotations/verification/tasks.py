from celery import shared_task

from annotations.verification import batches, merging, remerging, services


@shared_task(name="verification.open_finished", ignore_result=True)
def open_finished_task() -> int:
    return services.open_finished()


@shared_task(name="verification.expire", ignore_result=True)
def expire_task() -> int:
    return batches.expire()


@shared_task(name="verification.merge_item", ignore_result=True)
def merge_item_task(item_id: int) -> bool:
    """Merges the item whose last vote has landed. A second message for it does nothing."""
    return merging.merge_item(item_id)


@shared_task(name="verification.merge_due", ignore_result=True)
def merge_due_task() -> int:
    return merging.merge_due()


@shared_task(name="verification.remerge", ignore_result=True)
def remerge_task(merging_id: int) -> bool:
    return remerging.remerge(merging_id)


@shared_task(name="verification.revive", ignore_result=True)
def revive_task() -> int:
    """Starts again the mergings whose worker is gone."""
    return remerging.revive()


@shared_task(name="verification.refresh_models", ignore_result=True)
def refresh_models_task() -> int:
    return remerging.refresh_models()
