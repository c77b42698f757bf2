#include "testkit/nats_wire.h"

#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "testkit/testkit.h"

#define WIRE_BYTES ((size_t)8 << 20)
#define WIRE_MS    10000
#define WIRE_WORDS 5

static void
wire_send(struct tk_wire *w, struct str s)
{
	ssize_t got;

	for (; s.n > 0; s.p += got, s.n -= (size_t)got) {
		got = send(w->fd, s.p, s.n, MSG_NOSIGNAL);
		ck_assert_int_gt(got, 0);
	}
}

static void
wire_receive(struct tk_wire *w, int ms)
{
	struct pollfd p = { w->fd, POLLIN, 0 };
	char bytes[65536];
	ssize_t got;

	ck_assert_msg(poll(&p, 1, ms) == 1, "nothing came within %d ms", ms);
	got = recv(w->fd, bytes, sizeof(bytes), 0);
	ck_assert_int_gt(got, 0);
	buf_put(&w->in, bytes, (size_t)got);
}

/* The first line, without its end; absent if it is not whole yet. */
static struct str
wire_line(const struct tk_wire *w)
{
	const char *end =
	    w->in.n > 0 ? memmem(w->in.p, w->in.n, "\r\n", 2) : NULL;

	if (end == NULL)
		return (struct str){ NULL, 0 };
	return (struct str){ w->in.p, (size_t)(end - w->in.p) };
}

static bool
wire_begins(struct str line, const char *text)
{
	return line.n >= strlen(text) &&
	    memcmp(line.p, text, strlen(text)) == 0;
}

/* A PING, PONG, INFO or +OK is taken; an error fails the test. */
static bool
wire_take_control(struct tk_wire *w, struct str line, bool *pong)
{
	ck_assert_msg(!wire_begins(line, "-ERR"), "%.*s", (int)line.n, line.p);
	if (wire_begins(line, "MSG ") || wire_begins(line, "HMSG "))
		return false;
	*pong = wire_begins(line, "PONG");
	if (wire_begins(line, "PING"))
		wire_send(w, STR("PONG\r\n"));
	buf_drop(&w->in, line.n + 2);
	return true;
}

void
tk_wire_open(struct tk_wire *w, int port)
{
	*w = (struct tk_wire){ .fd = tk_connect(port) };
	ck_assert_int_ne(w->fd, -1);
	buf_init(&w->in, WIRE_BYTES);
	wire_send(w, STR("CONNECT {\"verbose\":false,\"headers\":true}\r\n"));
}

void
tk_wire_close(struct tk_wire *w)
{
	close(w->fd);
	buf_free(&w->in);
}

void
tk_wire_subscribe(struct tk_wire *w, const char *subject)
{
	char text[256];
	struct str line;
	bool pong = false;

	snprintf(text, sizeof(text), "SUB %s 1\r\nPING\r\n", subject);
	wire_send(w, str_of(text));
	while (!pong) {
		line = wire_line(w);
		if (line.p == NULL)
			wire_receive(w, WIRE_MS);
		else
			ck_assert(wire_take_control(w, line, &pong));
	}
}

void
tk_wire_publish(
    struct tk_wire *w, const char *subject, const char *reply, struct str data)
{
	struct buf b = BUF_INIT(WIRE_BYTES);

	buf_printf(&b, "PUB %s %s %zu\r\n", subject, reply, data.n);
	buf_put_str(&b, data);
	buf_puts(&b, "\r\n");
	wire_send(w, buf_str(&b));
	buf_free(&b);
}

/* The message that begins with line; false if it is not whole yet. */
static bool
wire_take_message(struct tk_wire *w, struct str line, struct tk_wire_msg *m)
{
	char text[512], *word[WIRE_WORDS] = { NULL }, *save = NULL, *next;
	bool headers = line.p[0] == 'H';
	size_t n = 0, head, all;

	ck_assert_uint_lt(line.n, sizeof(text));
	snprintf(text, sizeof(text), "%.*s", (int)line.n, line.p);
	for (next = strtok_r(text, " ", &save); next != NULL && n < WIRE_WORDS;
	     next = strtok_r(NULL, " ", &save))
		word[n++] = next;
	ck_assert_uint_gt(n, headers ? 4 : 3);
	all = strtoul(word[n - 1], NULL, 10);
	head = headers ? strtoul(word[n - 2], NULL, 10) : 0;
	ck_assert_uint_le(head, all);
	w->taken = line.n + 2 + all + 2;
	if (w->in.n < w->taken)
		return false;
	m->subject = (struct str){ line.p + (word[1] - text), strlen(word[1]) };
	m->data = (struct str){ line.p + line.n + 2 + head, all - head };
	return true;
}

void
tk_wire_next(struct tk_wire *w, int ms, struct tk_wire_msg *m)
{
	struct str line;
	bool pong;

	buf_drop(&w->in, w->taken);
	for (;;) {
		w->taken = 0;
		line = wire_line(w);
		if (line.p != NULL && wire_take_control(w, line, &pong))
			continue;
		if (line.p != NULL && wire_take_message(w, line, m))
			return;
		wire_receive(w, ms);
	}
}
