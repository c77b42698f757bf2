/* Addresses that are not allowed, also by redirects and changes of names. */
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include "testkit/httpc_fixture.h"

static struct httpc_fixture s;
static struct httpc_fixture_call g;

/* What every name resolves to; 127.0.0.1 if it is 0. */
static _Atomic uint32_t resolves_to;

/* Replaces the C library's function. */
int
getaddrinfo(const char *restrict node, const char *restrict service,
    const struct addrinfo *restrict hints, struct addrinfo **restrict out)
{
	struct {
		struct addrinfo info;
		struct sockaddr_in addr;
	} *r = mem_zalloc(sizeof(*r));
	int64_t port;

	(void)hints;
	r->addr.sin_family = AF_INET;
	if (service == NULL ||
	    str_to_i64(str_of(service), 0, 65535, &port) != RC_OK)
		port = 0;
	r->addr.sin_port = htons((uint16_t)port);
	r->addr.sin_addr.s_addr =
	    htonl(resolves_to != 0 ? resolves_to : INADDR_LOOPBACK);
	(void)inet_pton(AF_INET, node, &r->addr.sin_addr);
	r->info = (struct addrinfo){ .ai_family = AF_INET,
		.ai_socktype = SOCK_STREAM,
		.ai_addrlen = sizeof(r->addr),
		.ai_addr = (struct sockaddr *)&r->addr };
	*out = &r->info;
	return 0;
}

void
freeaddrinfo(struct addrinfo *r)
{
	free(r);
}

/* 127.0.0.2 stands for the internet, 127.0.0.1 for the private network. */
static bool
allow_second(const struct sockaddr *addr)
{
	struct sockaddr_in a;

	memcpy(&a, addr, sizeof(a));
	return a.sin_family == AF_INET &&
	    a.sin_addr.s_addr == htonl(INADDR_LOOPBACK + 1);
}

static _Atomic size_t requests;
static const char *_Atomic response;
static char location[256];

static void
respond(struct raw_server *p, int fd)
{
	struct buf in = BUF_INIT(65536);

	(void)p;
	while (raw_server_read(fd, &in)) {
		requests++;
		if (!raw_server_write(fd, response))
			break;
	}
	buf_free(&in);
}

static void
open_all(bool (*may_connect)(const struct sockaddr *addr))
{
	requests = 0;
	response = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
		   "Connection: close\r\n\r\nok";
	httpc_fixture_open(
	    &s, respond, (struct httpc_opts){ .may_connect = may_connect });
}

static void
run(const char *host, unsigned redirects)
{
	char url[128];

	snprintf(url, sizeof(url), "http://%s:%d/x", host, s.p.port);
	httpc_fixture_call_init(&g, s.c, url);
	g.rq.redirects = redirects;
	httpc_fixture_run(&s, &g);
	buf_free(&g.body);
}

/* The fixture listens on 127.0.0.1; this is the same for 127.0.0.2. */
static void
listen_second(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)s.p.port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 1) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	ck_assert_int_eq(listen(fd, 16), 0);
	ck_assert_int_ge(dup2(fd, s.p.listener), 0);
	close(fd);
}

TEST(an_address_that_is_not_allowed_is_never_connected_to)
{
	open_all(allow_second);
	run("127.0.0.1", 0);
	ck_assert_int_eq(g.rc, RC_DENIED);
	ck_assert_str_eq(g.why, "the address is not allowed");
	run("some.name.test", 0);
	ck_assert_int_eq(g.rc, RC_DENIED);
	ck_assert_uint_eq(s.p.accepted, 0);
	httpc_fixture_close(&s);
}

TEST(without_a_rule_all_addresses_are_allowed)
{
	open_all(NULL);
	run("some.name.test", 0);
	ck_assert_int_eq(g.rc, RC_OK);
	ck_assert_int_eq(g.status, 200);
	httpc_fixture_close(&s);
}

/* Accepted connections go to 127.0.0.2 from here on. */
static void
open_second(void)
{
	open_all(allow_second);
	/* The acceptor waits in accept(): one connection ends that. */
	listen_second();
	close(tk_connect(s.p.port));
}

TEST(a_redirect_to_a_private_address_ends_there)
{
	open_second();
	snprintf(location, sizeof(location),
	    "HTTP/1.1 307 Temporary Redirect\r\nLocation: "
	    "http://127.0.0.1:%d/y\r\nContent-Length: 0\r\n\r\n",
	    s.p.port);
	response = location;
	run("127.0.0.2", 3);
	ck_assert_int_eq(g.rc, RC_DENIED);
	ck_assert_uint_eq(requests, 1);
	httpc_fixture_close(&s);
}

TEST(a_name_that_changes_to_a_private_address_is_denied)
{
	open_second();
	resolves_to = INADDR_LOOPBACK + 1;
	run("first.test", 0);
	ck_assert_int_eq(g.rc, RC_OK);
	resolves_to = INADDR_LOOPBACK;
	run("second.test", 0);
	ck_assert_int_eq(g.rc, RC_DENIED);
	ck_assert_uint_eq(requests, 1);
	httpc_fixture_close(&s);
}
