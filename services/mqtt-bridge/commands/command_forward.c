#include "commands/command_forward.h"

#include <stdio.h>

#include "core/arena.h"
#include "core/clock.h"
#include "handlers.h"
#include "state/terminal.h"
#include "svc/svc.h"
#include "wire/iface.h"
#include "wire/subjects.h"

#define FORWARDED_HEADER "Soul-Forwarded"
/* Texts of a terminal's record, but for the catalog. */
#define RECORD_BYTES (8 * TERMINAL_JSON_MAX)
#define SUBJECT_MAX                                     \
	(sizeof(WIRE_SUBJECT_FMT_BODY_EMOTION_UPDATE) + \
	    2 * (size_t)ID_TOKEN_MAX)
#define HEADER_MAX 64

/* What is sent with a command; its texts. */
struct forward_meta {
	struct bus_meta meta;
	struct bus_header headers[2];
	struct trace trace;
	char act_by[HEADER_MAX];
	char subject[SUBJECT_MAX];
};

bool
forward_allowed(const struct bus_msg *m)
{
	return bus_msg_header(m, FORWARDED_HEADER).p == NULL;
}

enum rc
forward_find(struct bridge *b, struct str terminal, char token[ID_TOKEN_MAX])
{
	struct arena *a = arena_new(RECORD_BYTES);
	struct terminal t;
	enum rc rc;

	rc = terminal_read_brief(b->state, terminal, b->ttl_ms, a, &t);
	if (rc == RC_OK &&
	    (!t.present || t.broker.p == NULL || str_eq(t.broker, b->broker)))
		rc = RC_NOENT;
	if (rc == RC_OK)
		rc = id_token(t.broker, token);
	arena_free(a);
	return rc;
}

/* The subject of m with another broker: soul.body.<broker>.<rest>. */
static void
forward_subject(const struct bus_msg *m, const char *token, char *dst)
{
	struct str rest = bus_msg_subject(m), first, second;

	first = str_split(&rest, '.');
	second = str_split(&rest, '.');
	(void)str_split(&rest, '.');
	(void)snprintf(dst, SUBJECT_MAX, "%.*s.%.*s.%s.%.*s", STR_ARG(first),
	    STR_ARG(second), token, STR_ARG(rest));
}

static void
forward_meta_fill(
    struct forward_meta *f, const struct bus_msg *m, const char *token)
{
	struct str act_by = bus_msg_header(m, BUS_HEADER_ACT_BY);

	f->meta = (struct bus_meta){ .deadline = bus_msg_deadline(m),
		.headers = f->headers,
		.nheaders = 1 };
	f->headers[0] = (struct bus_header){ FORWARDED_HEADER, "1" };
	if (act_by.p != NULL) {
		/* One that is too long for a number is not one anyway. */
		str_copy(act_by, f->act_by, sizeof(f->act_by));
		f->headers[1] =
		    (struct bus_header){ BUS_HEADER_ACT_BY, f->act_by };
		f->meta.nheaders = 2;
	}
	if (bus_msg_trace(m, &f->trace))
		f->meta.trace = &f->trace;
	forward_subject(m, token, f->subject);
}

enum rc
forward_request(struct bridge *b, const struct bus_msg *m, const char *token,
    bus_reply_fn fn, void *arg)
{
	struct forward_meta f;

	forward_meta_fill(&f, m, token);
	if (f.meta.deadline.ms == 0)
		f.meta.deadline.ms =
		    clock_wall().ms + WIRE_DEADLINE_MS_BODY_INVOKE;
	return bus_request(svc_bus(b->svc), f.subject, bus_msg_data(m), &f.meta,
	    (struct bus_reply_handler){ .fn = fn, .arg = arg }, NULL);
}

enum rc
forward_publish(struct bridge *b, const struct bus_msg *m, const char *token)
{
	struct forward_meta f;

	forward_meta_fill(&f, m, token);
	return bus_publish(
	    svc_bus(b->svc), f.subject, bus_msg_data(m), &f.meta);
}
