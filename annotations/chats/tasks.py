from celery import shared_task


@shared_task(name="chats.reply", ignore_result=True)
def reply_task(dialogue_id: int, number: int) -> None:
    """Wakes a process to make the reply to utterance `number`. The claim in the database makes repeats harmless."""
    from annotations.chats.desk import desk

    desk().take(dialogue_id, number)


@shared_task(name="chats.sweep", ignore_result=True)
def sweep_task() -> int:
    from annotations.chats import answering

    return answering.sweep()


@shared_task(name="chats.close_idle", ignore_result=True)
def close_idle_task() -> int:
    from annotations.chats import services

    return services.close_idle()


@shared_task(name="chats.try_bot", ignore_result=True)
def try_bot_task(trial_id: int) -> None:
    from annotations.chats.desk import desk

    desk().try_out(trial_id)
