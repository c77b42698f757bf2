#include "testkit/stack/turns.h"

#include <nats/nats.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/mem.h"
#include "testkit/figures.h"
#include "testkit/http.h"
#include "testkit/nats.h"
#include "testkit/nats_wire.h"
#include "testkit/stack/client.h"

#define TURNS_MS 120000
/* The orchestrator replies to inboxes of its callers only. */
#define TURNS_INBOX "_INBOX.chat-gateway.turns."
#define CHAT_BYTES  512
#define USERS_MAX   128
#define BODY_MAX    ((size_t)1 << 20)

struct turns {
	const struct turns_plan *plan;
	double *began_ns, *ms;
	int sent, ended;
	/* Over NATS. */
	struct tk_wire wire;
	/* Over HTTP. */
	int port;
	atomic_int next, failed;
	char why[256]; /* of the first one that failed */
};

void
turns_times(double *ms, int n, double took_ms, struct turns_times *t)
{
	tk_sort(ms, (size_t)n);
	*t = (struct turns_times){ .per_s = n / took_ms * 1e3,
		.p10_ms = ms[n / 10],
		.p50_ms = ms[n / 2],
		.p99_ms = ms[n - 1 - n / 100],
		.least_ms = ms[0] };
}

/* ---- users ---- */

static const char *
turns_user(int i, char user[32])
{
	if (i == 0)
		snprintf(user, 32, STACK_USER);
	else
		snprintf(user, 32, "turns-user-%03d", i + 1);
	return user;
}

/* The member "terminal" of user i's requests, as chat-gateway has sent it. */
static char **
turns_terminal(int i)
{
	static char *terminals[USERS_MAX];

	ck_assert_int_lt(i, USERS_MAX);
	return &terminals[i];
}

/* Each user chats through chat-gateway, which is listened to. */
static void
turns_read_terminals(struct stack *st, int users)
{
	struct turns_plan p = { .text = TURNS_DIRECT,
		.n = users,
		.in_flight = 1,
		.users = users,
		.sessions = users,
		.session = "bound",
		.http = true };
	natsConnection *nc = tk_nats_connect(stack_nats_url(st));
	natsSubscription *sub = tk_nats_listen(nc, "soul.rpc.turn.start");
	json_t *start, *terminal;
	int i;

	turns_run(st, &p, NULL);
	for (i = 0; i < users; i++) {
		start = tk_nats_next(sub, TURNS_MS, NULL);
		ck_assert_ptr_nonnull(start);
		terminal = json_object_get(start, "terminal");
		ck_assert_ptr_nonnull(terminal);
		free(*turns_terminal(i));
		*turns_terminal(i) = json_dumps(terminal, JSON_COMPACT);
		json_decref(start);
	}
	natsSubscription_Destroy(sub);
	natsConnection_Destroy(nc);
}

void
turns_bind(struct stack *st, int users)
{
	char user[32], terminal[32], soul[32];
	int i;

	/* Tests that share a stack bind anew; a user's souls differ by name. */
	snprintf(soul, sizeof(soul), "元%d", (int)getpid());
	for (i = 0; i < users; i++) {
		snprintf(terminal, sizeof(terminal), "terminal-%03d", i + 1);
		client_wait_terminal(
		    st, STACK_USER, terminal, CLIENT_SEES_INTENTS);
		turns_user(i, user);
		client_select_soul(st, user, terminal,
		    client_create_soul(st, user, soul, "ENFP"));
	}
	turns_read_terminals(st, users);
}

/* ---- over NATS ---- */

/* The user of turn i, whose number is returned, and the rest of its chat. */
static int
turns_write(
    const struct turns_plan *p, int i, char user[32], char chat[CHAT_BYTES])
{
	int users = p->users > 0 ? p->users : 1;
	int session = i % (p->sessions > 0 ? p->sessions : 2 * p->in_flight);

	turns_user(session % users, user);
	snprintf(chat, CHAT_BYTES,
	    "\"session_id\":\"%s-%d\",\"terminal_id\":\"terminal-%03d\","
	    "\"inputs\":[{\"type\":\"keyboard_text\",\"text\":\"%s\"}]",
	    p->session, session, session % users + 1, p->text);
	return session % users;
}

static void
turns_send(struct turns *t)
{
	static int number;
	struct buf body = BUF_INIT(BODY_MAX);
	char user[32], chat[CHAT_BYTES], reply[64];
	int i = t->sent++, k;

	snprintf(reply, sizeof(reply), TURNS_INBOX "%d", i);
	k = turns_write(t->plan, i, user, chat);
	buf_printf(&body,
	    "{\"turn_id\":\"turn_%d_%d\",\"user_id\":\"%s\",\"chat\":{%s},"
	    "\"terminal\":%s}",
	    (int)getpid(), number++, user, chat, *turns_terminal(k));
	t->began_ns[i] = tk_now_ns();
	tk_wire_publish(&t->wire, "soul.rpc.turn.start", reply, buf_str(&body));
	buf_free(&body);
}

/* A turn ended, or began to run. */
static void
turns_take(struct turns *t, const struct tk_wire_msg *m)
{
	double now = tk_now_ns();
	long i = strtol(m->subject.p + strlen(TURNS_INBOX), NULL, 10);

	if (memmem(m->data.p, m->data.n, "\"accepted\"", 10) != NULL ||
	    memmem(m->data.p, m->data.n, "\"running\"", 9) != NULL)
		return;
	ck_assert_msg(memmem(m->data.p, m->data.n, "\"completed\"", 11) != NULL,
	    "%.*s", (int)m->data.n, m->data.p);
	t->ms[t->ended++] = (now - t->began_ns[i]) / 1e6;
	if (t->sent < t->plan->n)
		turns_send(t);
}

static void
turns_over_nats(struct stack *st, struct turns *t)
{
	struct tk_wire_msg m;

	tk_wire_open(&t->wire, st->server[STACK_NATS].port);
	tk_wire_subscribe(&t->wire, TURNS_INBOX "*");
	while (t->sent < t->plan->in_flight && t->sent < t->plan->n)
		turns_send(t);
	while (t->ended < t->plan->n) {
		tk_wire_next(&t->wire, TURNS_MS, &m);
		turns_take(t, &m);
	}
	tk_wire_close(&t->wire);
}

/* ---- over HTTP ---- */

static void *
turns_client(void *arg)
{
	struct turns *t = arg;
	struct tk_http c = { 0 };
	struct tk_response a = { 0 };
	char user[32], chat[CHAT_BYTES], body[2 * CHAT_BYTES];
	char request[3 * CHAT_BYTES];
	double began;
	int i;

	tk_http_open(&c, t->port);
	while ((i = atomic_fetch_add(&t->next, 1)) < t->plan->n) {
		(void)turns_write(t->plan, i, user, chat);
		snprintf(
		    body, sizeof(body), "{\"user_id\":\"%s\",%s}", user, chat);
		snprintf(request, sizeof(request),
		    "POST /v1/chat HTTP/1.1\r\nHost: localhost\r\n"
		    "Content-Type: application/json\r\n"
		    "Content-Length: %zu\r\n\r\n%s",
		    strlen(body), body);
		began = tk_now_ns();
		if (!tk_http_puts(&c, request) ||
		    !tk_http_read(&c, &a, TURNS_MS) || a.status != 200) {
			if (atomic_fetch_add(&t->failed, 1) == 0)
				snprintf(t->why, sizeof(t->why), "%d %.200s",
				    a.status, a.body.p != NULL ? a.body.p : "");
			break;
		}
		t->ms[i] = (tk_now_ns() - began) / 1e6;
	}
	tk_response_free(&a);
	tk_http_close(&c);
	return NULL;
}

static void
turns_over_http(struct stack *st, struct turns *t)
{
	int n = t->plan->in_flight, i;
	pthread_t *thread = mem_calloc((size_t)n, sizeof(*thread));

	t->port = st->service[STACK_CHAT_GATEWAY].http;
	for (i = 0; i < n; i++)
		ck_assert_int_eq(
		    pthread_create(&thread[i], NULL, turns_client, t), 0);
	for (i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	free(thread);
	ck_assert_msg(t->failed == 0, "%d turns failed: %s", t->failed, t->why);
}

void
turns_run(
    struct stack *st, const struct turns_plan *plan, struct turns_times *times)
{
	struct turns t = { .plan = plan };
	struct turns_times ignored;
	double began;

	t.began_ns = mem_calloc((size_t)plan->n, sizeof(*t.began_ns));
	t.ms = mem_calloc((size_t)plan->n, sizeof(*t.ms));
	began = tk_now_ns();
	if (plan->http)
		turns_over_http(st, &t);
	else
		turns_over_nats(st, &t);
	turns_times(t.ms, plan->n, (tk_now_ns() - began) / 1e6,
	    times != NULL ? times : &ignored);
	free(t.began_ns);
	free(t.ms);
}
