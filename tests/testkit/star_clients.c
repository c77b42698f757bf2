#include "testkit/star_clients.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/clock.h"
#include "core/mem.h"
#include "testkit/testkit.h"
#include "testkit/ws_wire.h"

/* Clients of an environment, itself included; the last few are humans. */
#define GROUP  53
#define HUMANS 2

#define BUF_MAX      (4UL * 1024 * 1024)
#define READ_BYTES   65536
#define EVENTS       512
#define TICK_MS      5
#define CONNECT_MS   15000 /* a hub that has not accepted it by then is slow */
#define BACKOFF_MS   100   /* the first one at most */
#define BACKOFF_MAX  3200
#define BROADCAST_N  4   /* of so many messages of an environment one */
#define RARE         300 /* of so many messages one is something else */
#define CONFIRM_MS   1000
#define ZOMBIE_MS    15000 /* an older connection is kept for so long */
#define SESSION_SIZE 33

enum phase { PHASE_NONE, PHASE_CONNECTING, PHASE_OPEN };

/* A connection. */
struct line {
	int client, conn; /* of the history */
	int fd;
	enum phase phase;
	bool accepted; /* 101 was read */
	bool old;      /* a newer one was begun, without its session */
	bool closing;
	bool writing; /* waits for room */
	int64_t since;
	struct buf in, out;
	/* The next heartbeat confirms up to this message; -1: none is due. */
	int64_t requested;
	int64_t heartbeat; /* when the next one may be sent */
};

struct member {
	struct line line[2]; /* the newest, and an older one */
	char session[SESSION_SIZE];
	unsigned long long frames;
	int failures;
	bool joined;
	int64_t next;      /* message, or connection */
	int64_t join_next; /* attempt */
	int64_t newest;    /* message on this connection; -1: none */
	int64_t confirmed;
};

struct star_clients {
	struct star_clients_opts o;
	struct star_history *h;
	struct member *member;
	struct mono began;
	int64_t now;
	int epfd;
	bool quiet;
	uint64_t random;
	struct star_clients_ends ends;
};

static void line_connect(struct star_clients *w, struct line *l);
static void line_end(struct star_clients *w, struct line *l);

/* ---- numbers ---- */

size_t
star_clients_random(struct star_clients *w, size_t n)
{
	/* xorshift64* */
	w->random ^= w->random >> 12;
	w->random ^= w->random << 25;
	w->random ^= w->random >> 27;
	return (size_t)((w->random * 0x2545f4914f6cdd1dULL) >> 33) % n;
}

int64_t
star_clients_now(const struct star_clients *w)
{
	return mono_diff_ms(clock_mono(), w->began);
}

struct star_history *
star_clients_history(struct star_clients *w)
{
	return w->h;
}

static int
clients_env(int c)
{
	return c - c % GROUP;
}

static bool
clients_is_env(int c)
{
	return c % GROUP == 0;
}

/* The last ones of a whole group. */
static bool
clients_is_human(int c)
{
	return c % GROUP >= GROUP - HUMANS;
}

static const char *
clients_class(int c)
{
	return clients_is_env(c)  ? "environment"
	    : clients_is_human(c) ? "human"
				  : "agent";
}

/* The end of c's group. */
static int
clients_group_end(const struct star_clients *w, int c)
{
	size_t end = (size_t)clients_env(c) + GROUP;

	return (int)(end < w->o.clients ? end : w->o.clients);
}

static struct member *
line_member(const struct star_clients *w, const struct line *l)
{
	return &w->member[l->client];
}

/* ---- bytes ---- */

static void
line_watch(struct star_clients *w, struct line *l, bool writing, int op)
{
	struct epoll_event ev = { .data.ptr = l,
		.events = EPOLLIN | (writing ? EPOLLOUT : 0U) };

	if (op == EPOLL_CTL_MOD && writing == l->writing)
		return;
	l->writing = writing;
	ck_assert_int_eq(epoll_ctl(w->epfd, op, l->fd, &ev), 0);
}

static void
line_flush(struct star_clients *w, struct line *l)
{
	ssize_t n = 0;

	if (l->out.n > 0)
		n = send(
		    l->fd, l->out.p, l->out.n, MSG_NOSIGNAL | MSG_DONTWAIT);
	/* The end of a connection is found by reading. */
	if (n > 0)
		buf_drop(&l->out, (size_t)n);
	else if (n == -1 && errno != EAGAIN)
		buf_reset(&l->out);
	line_watch(w, l, l->out.n > 0, EPOLL_CTL_MOD);
}

static void
line_send_text(struct star_clients *w, struct line *l, const struct buf *text)
{
	ws_wire_put(&l->out, 0x81, buf_str(text));
	line_flush(w, l);
}

/* ---- messages ---- */

static void
envelope_put_party(struct buf *b, const char *key, const char *type, int c)
{
	buf_printf(b, ",\"%s\":{\"id\":\"", key);
	if (c == -1)
		buf_puts(b, "*");
	else if (c == -2)
		buf_puts(b, "hub");
	else
		buf_printf(b, "c%06d", c);
	buf_printf(b, "\",\"type\":\"%s\"}", type);
}

/* To the hub. */
static void
line_send_request(struct star_clients *w, struct line *l, const char *type,
    const char *payload)
{
	struct buf b = BUF_INIT(4096);

	buf_printf(&b, "{\"type\":\"%s\",\"message_id\":\"hub\"", type);
	envelope_put_party(&b, "sender", clients_class(l->client), l->client);
	envelope_put_party(&b, "recipient", "hub", -2);
	buf_printf(&b, ",\"payload\":%s}", payload);
	line_send_text(w, l, &b);
	buf_free(&b);
}

static void
line_send_message(
    struct star_clients *w, struct line *l, int to, uint32_t number)
{
	struct buf b = BUF_INIT(4096);

	buf_printf(&b, "{\"type\":\"message\",\"message_id\":\"%u\"",
	    (unsigned)number);
	envelope_put_party(&b, "sender", clients_class(l->client), l->client);
	envelope_put_party(
	    &b, "recipient", to == -1 ? "hub" : clients_class(to), to);
	buf_puts(&b,
	    ",\"payload\":{\"type\":\"event\",\"id\":\"e\",\"event\":\"said\","
	    "\"data\":{\"text\":\"the lamp in the garden is on\"}}}");
	line_send_text(w, l, &b);
	buf_free(&b);
}

static void
member_broadcast(struct star_clients *w, int env)
{
	struct member *m = &w->member[env];
	int to[GROUP], c, n = 0;

	for (c = env + 1; c < clients_group_end(w, env); c++)
		to[n++] = c;
	m->newest = star_history_broadcast(w->h, w->now, env, to, (size_t)n);
	line_send_message(w, &m->line[0], -1, (uint32_t)m->newest);
}

static void
member_send(struct star_clients *w, int c)
{
	struct member *m = &w->member[c];
	int env = clients_env(c), end = clients_group_end(w, c), to = env;

	if (end == env + 1)
		return;
	if (clients_is_env(c) && star_clients_random(w, BROADCAST_N) == 0) {
		member_broadcast(w, c);
		return;
	}
	/* A fourth is for the environment. */
	if (clients_is_env(c) || star_clients_random(w, 4) > 0)
		to = env + 1 +
		    (int)star_clients_random(w, (size_t)(end - env - 1));
	if (to == c || (clients_is_human(c) && clients_is_human(to)))
		to = env;
	if (to == c)
		return;
	m->newest = star_history_send(w->h, w->now, c, to);
	line_send_message(w, &m->line[0], to, (uint32_t)m->newest);
}

/* ---- what comes ---- */

/* The number behind key, as in "message_id":"12"; false: it is not present. */
static bool
text_number(struct str text, const char *key, long long *out)
{
	size_t n = strlen(key);
	const char *at = memmem(text.p, text.n, key, n);

	if (at == NULL)
		return false;
	at += n;
	*out = strtoll(at, NULL, 10);
	return *at >= '0' && *at <= '9';
}

static bool
text_has(struct str text, const char *what)
{
	return memmem(text.p, text.n, what, strlen(what)) != NULL;
}

static void
line_on_first(struct star_clients *w, struct line *l, struct str text)
{
	static const char key[] = "\"session\":\"";
	const char *at = memmem(text.p, text.n, key, sizeof(key) - 1);
	struct member *m = line_member(w, l);
	enum star_opened how = text_has(text, "\"resumed\":true") ? STAR_RESUMED
	    : text_has(text, "\"resumed\":false")                 ? STAR_LOST
								  : STAR_NEW;

	ck_assert_ptr_nonnull(at);
	memcpy(m->session, at + sizeof(key) - 1, SESSION_SIZE - 1);
	l->conn = star_history_opened(w->h, w->now, l->client, how);
	l->phase = PHASE_OPEN;
	l->since = l->heartbeat = w->now;
	l->requested = m->newest = m->confirmed = -1;
	m->failures = 0;
	m->next =
	    w->now + (int64_t)star_clients_random(w, (size_t)w->o.interval_ms);
	if (how != STAR_RESUMED) {
		m->frames = 0;
		m->joined = false;
		m->join_next = 0;
	}
	if (clients_is_env(l->client))
		return;
	m->joined |= !clients_is_human(l->client);
	if (m->joined)
		star_history_member(
		    w->h, w->now, l->client, clients_env(l->client));
}

static void
line_on_heartbeat(struct star_clients *w, struct line *l, struct str text)
{
	if (l->phase != PHASE_OPEN) {
		line_on_first(w, l, text);
		return;
	}
	star_history_noticed(w->h, w->now, l->client, l->conn);
	if (l->old || l->requested < 0)
		return;
	star_history_taken(w->h, (uint32_t)l->requested);
	line_member(w, l)->confirmed = l->requested;
	l->requested = -1;
}

static void
line_on_error(struct star_clients *w, struct line *l, struct str text)
{
	long long number;

	/* One about a request is no error about a message. */
	if (text_number(text, "\"original_message_id\":\"", &number))
		star_history_failed(w->h, w->now, l->client, (uint32_t)number,
		    text_has(text, "delivery_unknown"));
	else if (!text_has(text, "\"original_message_id\":\"hub\""))
		star_history_wrong(
		    w->h, w->now, "an error is about no message");
}

/* What the hub tells an environment of its members, and anybody of drops. */
static void
line_on_event(struct star_clients *w, struct line *l, struct str text)
{
	long long n;
	bool present =
	    text_has(text, "_joined\"") || text_has(text, "_resumed\"");

	if (text_has(text, "\"event\":\"messages_dropped\"")) {
		ck_assert(text_number(text, "\"count\":", &n));
		star_history_dropped(w->h, w->now, l->client, (uint32_t)n);
	} else if (present || text_has(text, "_left\"")) {
		ck_assert(text_number(text, "_id\":\"c", &n));
		ck_assert_int_lt(n, (long long)w->o.clients);
		if (!l->old)
			star_history_notified(w->h, l->client, (int)n, present);
	}
}

/* The outcome of its request to join. */
static void
line_on_outcome(struct star_clients *w, struct line *l, struct str text)
{
	struct member *m = line_member(w, l);

	if (l->old || m->joined || !text_has(text, "\"status\":\"success\""))
		return;
	m->joined = true;
	star_history_member(w->h, w->now, l->client, clients_env(l->client));
}

static void
line_on_text(struct star_clients *w, struct line *l, struct str text)
{
	long long number;

	if (str_starts(text, STR("{\"type\":\"heartbeat\""))) {
		line_on_heartbeat(w, l, text);
		return;
	}
	/* Nothing comes before the first heartbeat. */
	if (l->phase != PHASE_OPEN) {
		star_history_wrong(
		    w->h, w->now, "a frame before the first heartbeat");
		return;
	}
	star_history_noticed(w->h, w->now, l->client, l->conn);
	if (!l->old)
		line_member(w, l)->frames++;
	if (str_starts(text, STR("{\"type\":\"error\"")))
		line_on_error(w, l, text);
	else if (text_number(text, "\"message_id\":\"", &number))
		star_history_received(
		    w->h, w->now, l->client, l->conn, (uint32_t)number);
	else if (text_has(text, "\"type\":\"outcome\""))
		line_on_outcome(w, l, text);
	else
		line_on_event(w, l, text);
}

static void
line_on_close(struct star_clients *w, struct line *l, struct str data)
{
	static const unsigned codes[] = { 1001, 1012, 1013, 4409 };
	unsigned code = data.n < 2 ? 0
				   : (unsigned)(unsigned char)data.p[0] << 8 |
		(unsigned char)data.p[1];
	size_t i = 0;

	while (i < NELEM(codes) && codes[i] != code)
		i++;
	w->ends.closed[i]++;
	ws_wire_put(&l->out, 0x88, (struct str){ data.p, data.n < 2 ? 0 : 2 });
	line_flush(w, l);
	line_end(w, l);
}

/* ---- frames ---- */

/* Whether the connection goes on. */
static bool
line_on_frame(
    struct star_clients *w, struct line *l, const struct ws_wire_frame *f)
{
	switch (f->opcode) {
	case 1:
		line_on_text(w, l, f->data);
		return true;
	case 9:
		ws_wire_put(&l->out, 0x8a, f->data);
		line_flush(w, l);
		return true;
	case 8:
		line_on_close(w, l, f->data);
		return false;
	default:
		star_history_wrong(w->h, w->now, "a frame of another kind");
		return true;
	}
}

/* The response to the handshake; false: it is not whole, or the end. */
static bool
line_on_response(struct star_clients *w, struct line *l)
{
	const char *end = memmem(l->in.p, l->in.n, "\r\n\r\n", 4);

	if (end == NULL)
		return false;
	if (strncmp(l->in.p, "HTTP/1.1 101 ", 13) != 0) {
		w->ends.rejected++;
		str_copy(buf_str(&l->in), w->ends.rejection,
		    sizeof(w->ends.rejection));
		line_end(w, l);
		return false;
	}
	buf_drop(&l->in, (size_t)(end + 4 - l->in.p));
	l->accepted = true;
	return true;
}

static void
line_on_bytes(struct star_clients *w, struct line *l)
{
	struct ws_wire_frame f;
	size_t at = 0;

	if (!l->accepted && !line_on_response(w, l))
		return;
	while (ws_wire_take(buf_str(&l->in), &at, &f))
		if (!line_on_frame(w, l, &f))
			return;
	buf_drop(&l->in, at);
}

static void
line_read(struct star_clients *w, struct line *l)
{
	char bytes[READ_BYTES];
	ssize_t n = recv(l->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (n > 0) {
		buf_put(&l->in, bytes, (size_t)n);
		line_on_bytes(w, l);
	} else if (n == 0 || errno != EAGAIN) {
		*(l->accepted ? &w->ends.broken : &w->ends.refused) += 1;
		line_end(w, l);
	}
}

/* ---- connections ---- */

static void
line_close(struct line *l)
{
	close(l->fd);
	buf_free(&l->in);
	buf_free(&l->out);
	l->fd = -1;
	l->phase = PHASE_NONE;
	l->accepted = l->closing = l->writing = false;
}

/* It is over; the newest one of a client begins again. */
static void
line_end(struct star_clients *w, struct line *l)
{
	struct member *m = line_member(w, l);
	int64_t most = (int64_t)BACKOFF_MS << m->failures;

	if (l->phase == PHASE_OPEN)
		star_history_ended(w->h, w->now, l->client, l->conn);
	line_close(l);
	if (l->old)
		return;
	if (most < BACKOFF_MAX)
		m->failures++;
	m->next = w->now + (int64_t)star_clients_random(w, (size_t)most);
}

static void
line_put_handshake(const struct star_clients *w, struct line *l)
{
	const struct member *m = line_member(w, l);
	int c = l->client, env = clients_env(c);

	buf_puts(&l->out, "GET ");
	if (clients_is_env(c))
		buf_printf(&l->out, "/env/c%06d", c);
	else if (clients_is_human(c))
		buf_printf(&l->out, "/human/c%06d", c);
	else
		buf_printf(&l->out, "/env/c%06d/agent/c%06d", env, c);
	if (m->session[0] != '\0')
		buf_printf(
		    &l->out, "?session=%s&last=%llu", m->session, m->frames);
	buf_puts(&l->out,
	    " HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
	    "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
	    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
}

static void
line_connect(struct star_clients *w, struct line *l)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons(
		    (uint16_t)w->o.port[star_clients_random(w, w->o.hubs)]),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int one = 1;

	l->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	ck_assert_int_ne(l->fd, -1);
	(void)setsockopt(l->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	buf_init(&l->in, BUF_MAX);
	buf_init(&l->out, BUF_MAX);
	l->phase = PHASE_CONNECTING;
	l->since = w->now;
	line_put_handshake(w, l);
	if (connect(l->fd, (struct sockaddr *)(void *)&to, sizeof(to)) == -1 &&
	    errno != EINPROGRESS) {
		w->ends.refused++;
		line_end(w, l);
		return;
	}
	line_watch(w, l, true, EPOLL_CTL_ADD);
}

/* ---- what a client does ---- */

/* Close it as one that does not come back to its session. */
static void
member_leave(struct star_clients *w, struct member *m)
{
	struct line *l = &m->line[0];

	ws_wire_put(&l->out, 0x88, STR("\x03\xe8"));
	line_flush(w, l);
	m->session[0] = '\0';
	line_end(w, l);
	m->next = w->now + 500 + (int64_t)star_clients_random(w, 3000);
}

/* Its connection breaks; it comes back soon, or when its session is over. */
static void
member_break(struct star_clients *w, struct member *m, bool soon)
{
	line_end(w, &m->line[0]);
	if (!soon)
		m->next = w->now + w->o.resume_ms + 1000 +
		    (int64_t)star_clients_random(w, 2000);
}

/* Another process begins to use its id, and the older connection stays. */
static void
member_double(struct star_clients *w, struct member *m)
{
	struct line *l = &m->line[1];

	if (l->fd != -1)
		line_end(w, l);
	*l = m->line[0];
	l->old = true;
	m->line[0] = (struct line){ .client = l->client, .fd = -1 };
	l->since = l->heartbeat = w->now;
	ck_assert_int_eq(
	    epoll_ctl(w->epfd, EPOLL_CTL_MOD, l->fd,
		&(struct epoll_event){ .data.ptr = l,
		    .events = EPOLLIN | (l->writing ? EPOLLOUT : 0U) }),
	    0);
	m->session[0] = '\0';
	line_connect(w, &m->line[0]);
}

static void
member_act(struct star_clients *w, struct member *m)
{
	int c = m->line[0].client;

	switch (star_clients_random(w, RARE)) {
	case 0:
		member_leave(w, m);
		return;
	case 1:
		member_break(w, m, true);
		return;
	case 2:
		member_break(w, m, false);
		return;
	case 3:
		member_double(w, m);
		return;
	default:
		m->next = w->now + 1 +
		    (int64_t)star_clients_random(
			w, (size_t)(2 * w->o.interval_ms));
		member_send(w, c);
	}
}

/* It asks whether the hub has taken what it sent. */
static void
line_confirm(struct star_clients *w, struct line *l)
{
	struct member *m = line_member(w, l);

	if (w->now < l->heartbeat ||
	    (!l->old && (l->requested >= 0 || m->newest == m->confirmed)))
		return;
	l->heartbeat = w->now + CONFIRM_MS;
	if (!l->old)
		l->requested = m->newest;
	line_send_request(w, l, "heartbeat", "{}");
}

static void
member_join(struct star_clients *w, struct member *m)
{
	char payload[128];

	if (m->joined || !clients_is_human(m->line[0].client) ||
	    w->now < m->join_next)
		return;
	m->join_next = w->now + CONFIRM_MS;
	(void)snprintf(payload, sizeof(payload),
	    "{\"type\":\"stream\",\"id\":\"j\",\"stream\":\"join_environment\","
	    "\"data\":{\"env_id\":\"c%06d\"}}",
	    clients_env(m->line[0].client));
	line_send_request(w, &m->line[0], "message", payload);
}

static void
member_tick(struct star_clients *w, struct member *m)
{
	struct line *l = &m->line[0], *old = &m->line[1];

	if (old->fd != -1 && (w->quiet || w->now > old->since + ZOMBIE_MS))
		line_end(w, old);
	else if (old->fd != -1)
		line_confirm(w, old);
	if (l->phase == PHASE_NONE && w->now >= m->next)
		line_connect(w, l);
	else if (l->phase == PHASE_CONNECTING &&
	    w->now > l->since + CONNECT_MS) {
		w->ends.slow++;
		line_end(w, l);
	} else if (l->phase == PHASE_OPEN) {
		member_join(w, m);
		line_confirm(w, l);
		if (!w->quiet && w->now >= m->next)
			member_act(w, m);
	}
}

/* ---- the clients ---- */

struct star_clients *
star_clients_new(const struct star_clients_opts *o)
{
	struct star_clients *w = mem_zalloc(sizeof(*w));
	size_t i, k;

	w->o = *o;
	w->h = star_history_new(o->clients, o->resume_ms);
	w->random = o->random | 1;
	w->member = mem_calloc(o->clients, sizeof(*w->member));
	w->began = clock_mono();
	w->epfd = epoll_create1(EPOLL_CLOEXEC);
	ck_assert_int_ne(w->epfd, -1);
	for (i = 0; i < o->clients; i++) {
		for (k = 0; k < 2; k++)
			w->member[i].line[k] =
			    (struct line){ .client = (int)i, .fd = -1 };
		w->member[i].next =
		    (int64_t)i * o->begin_ms / (int64_t)o->clients;
	}
	return w;
}

void
star_clients_free(struct star_clients *w)
{
	size_t i, k;

	for (i = 0; i < w->o.clients; i++)
		for (k = 0; k < 2; k++)
			if (w->member[i].line[k].fd != -1)
				line_close(&w->member[i].line[k]);
	star_history_free(w->h);
	free(w->member);
	close(w->epfd);
	free(w);
}

void
star_clients_run(struct star_clients *w, int ms)
{
	int64_t end = star_clients_now(w) + ms;
	struct epoll_event ev[EVENTS];
	struct line *l;
	int64_t ticked = -1;
	size_t m;
	int i, n;

	while ((w->now = star_clients_now(w)) < end) {
		if (w->now >= ticked + TICK_MS) {
			ticked = w->now;
			for (m = 0; m < w->o.clients; m++)
				member_tick(w, &w->member[m]);
		}
		n = epoll_wait(w->epfd, ev, EVENTS, TICK_MS);
		w->now = star_clients_now(w);
		for (i = 0; i < n; i++) {
			l = ev[i].data.ptr;
			if (l->fd != -1 && (ev[i].events & EPOLLOUT) != 0)
				line_flush(w, l);
			if (l->fd != -1)
				line_read(w, l);
		}
	}
}

void
star_clients_set_quiet(struct star_clients *w, bool quiet)
{
	int64_t now = star_clients_now(w);
	struct member *m;
	size_t i;

	w->quiet = quiet;
	for (i = 0; quiet && i < w->o.clients; i++) {
		m = &w->member[i];
		if (m->line[0].phase == PHASE_NONE &&
		    m->next > now + BACKOFF_MAX)
			m->next =
			    now + (int64_t)star_clients_random(w, BACKOFF_MAX);
	}
}

size_t
star_clients_open(const struct star_clients *w)
{
	size_t i, n = 0;

	for (i = 0; i < w->o.clients; i++)
		n += w->member[i].line[0].phase == PHASE_OPEN &&
		    (w->member[i].joined || clients_is_env((int)i));
	return n;
}

void
star_clients_ends(const struct star_clients *w, struct star_clients_ends *e)
{
	const struct member *m;
	size_t i;

	*e = w->ends;
	e->connecting = e->unjoined = 0;
	for (i = 0; i < w->o.clients; i++) {
		m = &w->member[i];
		e->connecting += m->line[0].phase == PHASE_CONNECTING;
		e->unjoined += m->line[0].phase == PHASE_OPEN && !m->joined &&
		    !clients_is_env((int)i);
	}
}
