from celery import shared_task


@shared_task(name="exports.make", ignore_result=True)
def make_task(export_id: int) -> None:
    from annotations.exports import services

    services.run(export_id)


@shared_task(name="exports.read", ignore_result=True)
def read_task(import_id: int) -> None:
    from annotations.exports import importing

    importing.run(import_id)


@shared_task(name="exports.restart", ignore_result=True)
def restart_task() -> int:
    from annotations.exports import services

    return services.restart()
