/* What a client of the load has written is read back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "testkit/json.h"
#include "testkit/stack/chaos_client.h"
#include "testkit/testkit.h"

#define READ_MS 30000
/* A fact becomes a memory within this time. */
#define MEMORY_MS 90000

/* A request that is repeated while the stack is overloaded. */
struct client_get {
	struct chaos_client *c;
	const char *path;
	json_t *json; /* of 200 */
	int status;
};

static bool
client_gets(void *arg)
{
	struct client_get *g = arg;

	g->status = client_request(g->c, "GET", g->path, NULL, &g->json);
	return g->status == 200 || g->status == 404;
}

/*
 * The response, which the caller frees; NULL if it is 404, or if there is none,
 * which is recorded.
 */
static json_t *
client_get(struct chaos_client *c, const char *path)
{
	struct client_get g = { .c = c, .path = path };
	char text[300];

	if (!tk_until(client_gets, &g, READ_MS)) {
		snprintf(text, sizeof(text), "%s cannot be read back: %d", path,
		    g.status);
		chaos_wrong(c->h, chaos_now(), text);
	}
	return g.json;
}

/* ---- sessions ---- */

static json_t *
client_get_messages(struct chaos_client *c, const char *session)
{
	char path[100];

	snprintf(path, sizeof(path), "/v1/sessions/%s/messages?user_id=%s",
	    session, c->user);
	return client_get(c, path);
}

static void
client_read_messages(struct chaos_client *c, const char *session)
{
	json_t *j = client_get_messages(c, session), *m;
	size_t i;

	json_array_foreach (json_object_get(j, "items"), i, m)
		chaos_message(c->h, session,
		    &(struct chaos_message){ tk_find_text(m, "role"),
			tk_find_text(m, "content"),
			tk_find_text(m, "turn_id") });
	json_decref(j);
}

static void
client_read_turn(struct chaos_client *c, const char *turn)
{
	char path[160];
	json_t *j;

	snprintf(path, sizeof(path), "/v1/turns/%s?user_id=%s", turn, c->user);
	j = client_get(c, path);
	if (j != NULL)
		chaos_record(c->h, turn, tk_find_text(j, "state"),
		    tk_find_text(j, "trace_id"));
	json_decref(j);
}

/* Events are read up to the end of the session's last turn. */
struct client_reader {
	struct chaos_client *c;
	const struct chaos_ended *of;
	size_t at; /* of the stream */
	bool complete;
	int status;
	char **turns;
	size_t n_turns;
};

static void
client_read_event(struct client_reader *x, json_t *e)
{
	const char *turn = tk_find_text(e, "run_id");
	const char *type = tk_find_text(e, "type");
	size_t i;

	chaos_event(x->c->h, x->of->session,
	    &(struct chaos_event){
		json_integer_value(json_object_get(e, "seq")), turn, type });
	for (i = 0; i < x->n_turns; i++)
		if (strcmp(x->turns[i], turn) == 0)
			break;
	if (i == x->n_turns) {
		x->turns =
		    mem_realloc(x->turns, (x->n_turns + 1) * sizeof(*x->turns));
		x->turns[x->n_turns++] = mem_strdup(turn);
	}
	x->complete |= strcmp(turn, x->of->last) == 0 &&
	    (strcmp(type, "conversation.completed") == 0 ||
		strcmp(type, "user.input.required") == 0);
}

static bool
on_events(void *arg, struct str so_far)
{
	struct client_reader *x = arg;
	struct str rest = { so_far.p + x->at, so_far.n - x->at };
	json_t *e;

	while (!x->complete && (e = chaos_http_next(&rest)) != NULL) {
		client_read_event(x, e);
		json_decref(e);
		x->at = (size_t)(rest.p - so_far.p);
	}
	return !x->complete;
}

/* Whether the stream began, or was rejected for good. */
static bool
client_reads_events(void *arg)
{
	struct client_reader *x = arg;
	char path[120];
	struct chaos_http r = { .method = "GET",
		.path = path,
		.timeout_ms = CHAOS_CALL_MS / 4,
		.more = on_events,
		.arg = x };

	snprintf(path, sizeof(path),
	    "/v1/sessions/%s/events?user_id=%s&cursor=0", x->of->session,
	    x->c->user);
	x->status = chaos_http(x->c->port, &r, &x->c->out);
	return x->at > 0 || (x->status != 429 && x->status != 503);
}

static void
client_read_events(struct chaos_client *c, const struct chaos_ended *of)
{
	struct client_reader x = { .c = c, .of = of };
	char text[300];
	size_t i;

	(void)tk_until(client_reads_events, &x, READ_MS);
	if (!x.complete) {
		snprintf(text, sizeof(text),
		    "the events of %s end before %s: %d", of->session, of->last,
		    x.status);
		chaos_wrong(c->h, chaos_now(), text);
	}
	for (i = 0; i < x.n_turns; i++) {
		client_read_turn(c, x.turns[i]);
		free(x.turns[i]);
	}
	free(x.turns);
}

/* ---- records ---- */

/* The rest of a record's name after its kind; NULL: of another kind. */
static const char *
client_record_of(const char *record, const char *kind)
{
	size_t n = strlen(kind);

	return strncmp(record, kind, n) == 0 && record[n] == ' '
	    ? record + n + 1
	    : NULL;
}

static void
client_read_profile(struct chaos_client *c)
{
	char path[100];
	const char *key;
	json_t *j;
	size_t i;

	snprintf(path, sizeof(path), "/v1/users/%s/profile", c->user);
	j = client_get(c, path);
	for (i = 0; i < c->n_records; i++) {
		key = client_record_of(c->records[i], "profile");
		if (key != NULL)
			chaos_read(c->h, c->records[i],
			    tk_find_text(json_object_get(j, "user_profile"),
				strchr(key, ' ') + 1));
	}
	json_decref(j);
}

/* How many items have text in a member: "", "1", or more. */
static void
client_read_count(struct chaos_client *c, const char *record, size_t n)
{
	char text[24] = "";

	if (n > 0)
		snprintf(text, sizeof(text), "%zu", n);
	chaos_read(c->h, record, text);
}

static size_t
client_count(json_t *items, const char *member, const char *text)
{
	size_t i, n = 0;
	json_t *v;

	json_array_foreach (items, i, v)
		n += strstr(tk_find_text(v, member), text) != NULL;
	return n;
}

static void
client_read_souls(struct chaos_client *c)
{
	char path[100];
	const char *name;
	json_t *j;
	size_t i, k, n;

	snprintf(path, sizeof(path), "/v1/souls?user_id=%s", c->user);
	j = client_get(c, path);
	for (i = 0; i < c->n_records; i++) {
		name = client_record_of(c->records[i], "soul");
		if (name == NULL)
			continue;
		n = 0;
		for (k = 0; k < json_array_size(tk_find(j, "items")); k++)
			n += strcmp(tk_find_text(
					json_array_get(tk_find(j, "items"), k),
					"name"),
				 name) == 0;
		client_read_count(c, c->records[i], n);
	}
	json_decref(j);
}

static void
client_read_binding(struct chaos_client *c)
{
	char path[100], record[80];
	json_t *j;

	snprintf(record, sizeof(record), "binding %s", c->terminal);
	snprintf(path, sizeof(path), "/v1/terminals/%s?user_id=%s", c->terminal,
	    c->user);
	j = client_get(c, path);
	chaos_read(c->h, record, tk_find_text(j, "soul_id"));
	json_decref(j);
}

static void
client_read_deleted(struct chaos_client *c)
{
	const char *session;
	json_t *j;
	size_t i;

	for (i = 0; i < c->n_records; i++) {
		session = client_record_of(c->records[i], "session");
		if (session == NULL)
			continue;
		j = client_get_messages(c, session);
		client_read_count(c, c->records[i],
		    json_array_size(json_object_get(j, "items")));
		json_decref(j);
	}
}

/* ---- memories ---- */

/* All memories of the user, in one list. */
static json_t *
client_memories(struct chaos_client *c)
{
	json_t *all = json_array(), *j;
	char path[300], next[160] = "";

	do {
		snprintf(path, sizeof(path),
		    "/v1/memories?user_id=%s&limit=100%s%s", c->user,
		    next[0] != '\0' ? "&cursor=" : "", next);
		j = client_get(c, path);
		json_array_extend(all, json_object_get(j, "items"));
		snprintf(next, sizeof(next), "%s", tk_find_text(j, "next"));
		json_decref(j);
	} while (next[0] != '\0');
	return all;
}

static bool
client_remembers(void *arg)
{
	struct chaos_client *c = arg;
	json_t *all = client_memories(c);
	const char *name;
	bool has = true;
	size_t i;

	for (i = 0; i < c->n_records && has; i++) {
		name = client_record_of(c->records[i], "memory");
		if (name != NULL)
			has = client_count(all, "text", name) > 0;
	}
	json_decref(all);
	return has;
}

static void
client_read_memories(struct chaos_client *c)
{
	const char *name;
	json_t *all;
	size_t i;

	(void)tk_until(client_remembers, c, MEMORY_MS);
	all = client_memories(c);
	for (i = 0; i < c->n_records; i++) {
		name = client_record_of(c->records[i], "memory");
		if (name != NULL)
			client_read_count(
			    c, c->records[i], client_count(all, "text", name));
	}
	json_decref(all);
}

void
client_read_back(struct chaos_client *c)
{
	size_t i;

	for (i = 0; i < c->n_ended; i++) {
		client_read_messages(c, c->ended[i].session);
		client_read_events(c, &c->ended[i]);
	}
	client_read_profile(c);
	client_read_souls(c);
	if (c->first)
		client_read_binding(c);
	client_read_deleted(c);
	client_read_memories(c);
}
