/*
 * engine_view: engines by their runners.  Pure.
 */
#ifndef CHAT_GATEWAY_RUNS_ENGINE_VIEW_H
#define CHAT_GATEWAY_RUNS_ENGINE_VIEW_H

#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"
#include "core/rc.h"
#include "core/str.h"
#include "wire/msgs.h"

/*
 * engine_view(list, n, known, tenant, a, out):
 * The engines that n runners offer; if the caller is known only those that its
 * tenant (absent: none) may use.  Texts are those of list, the rest is in a.
 * RC_TOOBIG: a is full.
 */
enum rc engine_view(const struct wire_runner_status *list, size_t n, bool known,
    struct str tenant, struct arena *a, struct wire_engine_list *out) RC_CHECK;

#endif /* !CHAT_GATEWAY_RUNS_ENGINE_VIEW_H */
