/*
 * peer: a server that sends exactly what a test wants, and calls with what
 * became of them, for the tests beside this file.
 */
#ifndef TESTS_HTTPC_PEER_H
#define TESTS_HTTPC_PEER_H

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/mem.h"
#include "httpc/httpc.h"
#include "testkit/loop_thread.h"
#include "testkit/testkit.h"

#define PEER_CONNS_MAX 512
#define CALL_MS        10000

struct peer;

/* Serve one connection on its own thread; fd is closed afterwards. */
typedef void (*peer_fn)(struct peer *p, int fd);

struct peer {
	int listener, port;
	peer_fn fn;
	pthread_t acceptor;
	pthread_t conns[PEER_CONNS_MAX];
	size_t nconns;
	_Atomic size_t accepted;
	_Atomic bool stop;
};

struct peer_conn {
	struct peer *p;
	int fd;
};

static inline void *
peer_serve(void *arg)
{
	struct peer_conn c = *(struct peer_conn *)arg;

	free(arg);
	c.p->fn(c.p, c.fd);
	close(c.fd);
	return NULL;
}

static inline void *
peer_accept(void *arg)
{
	struct peer *p = arg;

	for (;;) {
		/* No child may keep a connection open that we end. */
		int fd = accept4(p->listener, NULL, NULL, SOCK_CLOEXEC);
		if (fd < 0 || p->stop) {
			if (fd >= 0)
				close(fd);
			return NULL;
		}
		if (p->nconns == PEER_CONNS_MAX)
			abort();
		struct peer_conn *c = mem_alloc(sizeof(*c));
		*c = (struct peer_conn){ p, fd };
		if (pthread_create(&p->conns[p->nconns], NULL, peer_serve, c) !=
		    0)
			abort();
		p->nconns++;
		p->accepted++;
	}
}

/* peer_open(p, fn): Listen on a free port and serve with fn. */
static inline void
peer_open(struct peer *p, peer_fn fn)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(a);

	memset(p, 0, sizeof(*p));
	p->fn = fn;
	p->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(p->listener, 0);
	ck_assert_int_eq(
	    bind(p->listener, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(listen(p->listener, 512), 0);
	ck_assert_int_eq(
	    getsockname(p->listener, (struct sockaddr *)&a, &n), 0);
	p->port = ntohs(a.sin_port);
	ck_assert_int_eq(pthread_create(&p->acceptor, NULL, peer_accept, p), 0);
}

/* peer_close(p): End its threads; their reads see the connections' end. */
static inline void
peer_close(struct peer *p)
{
	p->stop = true;
	shutdown(p->listener, SHUT_RDWR);
	pthread_join(p->acceptor, NULL);
	for (size_t i = 0; i < p->nconns; i++)
		pthread_join(p->conns[i], NULL);
	close(p->listener);
}

/*
 * peer_read(fd, b): One request (head and Content-Length body) into b; false at
 * the connection's end.
 */
static inline bool
peer_read(int fd, struct buf *b)
{
	size_t want = SIZE_MAX;
	char piece[4096];

	buf_reset(b);
	while (b->n < want) {
		ssize_t n = recv(fd, piece, sizeof(piece), 0);
		if (n <= 0)
			return false;
		buf_put(b, piece, (size_t)n);
		ptrdiff_t end = str_find(buf_str(b), STR("\r\n\r\n"));
		if (end < 0)
			continue;
		const char *length = strcasestr(b->p, "content-length:");
		want = (size_t)end + 4 +
		    (length != NULL ? strtoul(length + 15, NULL, 10) : 0);
	}
	return true;
}

static inline bool
peer_write(int fd, const char *text)
{
	size_t n = strlen(text);

	return send(fd, text, n, MSG_NOSIGNAL) == (ssize_t)n;
}

/* peer_hold(p, fd): Wait until the client goes or the peer is closed. */
static inline void
peer_hold(struct peer *p, int fd)
{
	struct pollfd f = { .fd = fd, .events = POLLIN };
	char piece[256];

	while (!p->stop)
		if (poll(&f, 1, 50) > 0 &&
		    recv(fd, piece, sizeof(piece), 0) <= 0)
			return;
}

/* A call and what became of it. */
struct got {
	struct httpc *c;
	struct httpc_request rq;
	struct httpc_call *call;
	enum rc started, rc;
	int times; /* on_done was called */
	int status;
	struct buf body;
	char type[64];
	char why[256];
	int64_t retry_after_ms;
	struct mono start, end;
	_Atomic bool done;
};

static inline void
got_done(void *arg, struct httpc_call *call, enum rc rc,
    const struct httpc_response *answer)
{
	struct got *g = arg;

	g->rc = rc;
	g->times++;
	g->status = answer->status;
	if (answer->body.n > 0)
		buf_put_str(&g->body, answer->body);
	str_copy(httpc_header(call, "content-type"), g->type, sizeof(g->type));
	str_copy(str_of(answer->why), g->why, sizeof(g->why));
	g->retry_after_ms = answer->retry_after_ms;
	g->end = clock_mono();
	g->done = true;
}

/*
 * got_init(g, c, url): A GET with a deadline of CALL_MS, to be changed.  Its
 * time counts from here, since a deadline is set before the loop has it.
 */
static inline void
got_init(struct got *g, struct httpc *c, const char *url)
{
	memset(g, 0, sizeof(*g));
	g->start = clock_mono();
	g->c = c;
	buf_init(&g->body, 64 * 1024 * 1024);
	g->rq = (struct httpc_request){ .method = "GET",
		.url = url,
		.deadline = { clock_wall().ms + CALL_MS },
		.on_done = got_done,
		.arg = g };
}

static inline void
got_start(void *arg)
{
	struct got *g = arg;

	g->started = httpc_start(g->c, &g->rq, &g->call);
}

static inline bool
got_is_done(void *arg)
{
	return ((struct got *)arg)->done;
}

static inline int64_t
got_ms(const struct got *g)
{
	return mono_diff_ms(g->end, g->start);
}

/* A client on a loop, and a peer. */
struct scene {
	struct tk_loop k;
	struct httpc *c;
	struct peer p;
	char url[128];
	size_t active, waiting;
};

static inline void
scene_free_client(void *arg)
{
	struct scene *s = arg;

	httpc_free(s->c);
	s->c = NULL;
}

static inline void
scene_take_counts(void *arg)
{
	struct scene *s = arg;

	s->active = httpc_active(s->c);
	s->waiting = httpc_queued(s->c);
}

/* scene_counts(s, active, waiting): Check both. */
static inline void
scene_counts(struct scene *s, size_t active, size_t waiting)
{
	tk_loop_call(&s->k, scene_take_counts, s);
	ck_assert_uint_eq(s->active, active);
	ck_assert_uint_eq(s->waiting, waiting);
}

static inline void
scene_open(struct scene *s, peer_fn fn, struct httpc_opts o)
{
	peer_open(&s->p, fn);
	snprintf(s->url, sizeof(s->url), "http://127.0.0.1:%d/x", s->p.port);
	tk_loop_new(&s->k, 1024);
	o.loop = s->k.l;
	o.peer = "test";
	s->c = httpc_new(&o);
	tk_loop_start(&s->k);
}

static inline void
scene_close(struct scene *s)
{
	tk_loop_call(&s->k, scene_free_client, s);
	tk_loop_stop(&s->k);
	loop_free(s->k.l);
	peer_close(&s->p);
}

/* scene_run(s, g): Start g's call and wait for its end. */
static inline void
scene_run(struct scene *s, struct got *g)
{
	tk_loop_call(&s->k, got_start, g);
	ck_assert_msg(g->started == RC_OK, "%s", rc_name(g->started));
	ck_assert(tk_until(got_is_done, g, CALL_MS + 2000));
	/* A second end would come by now. */
	tk_loop_call(&s->k, NULL, NULL);
	ck_assert_int_eq(g->times, 1);
}

#endif /* !TESTS_HTTPC_PEER_H */
