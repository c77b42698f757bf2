/*
 * message_span: a span of a message that is part of a trace.
 */
#ifndef STAR_HUB_MESSAGE_SPAN_H
#define STAR_HUB_MESSAGE_SPAN_H

#include "core/clock.h"
#include "core/trace.h"

struct message_span {
	struct trace trace; /* its span_id is this span's; empty: no span */
	char parent[sizeof(((struct trace *)NULL)->span_id)];
	struct mono start;
	int how; /* enum hub_how; -1: it was not routed */
};

#endif /* !STAR_HUB_MESSAGE_SPAN_H */
