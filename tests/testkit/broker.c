#include "testkit/broker.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "testkit/testkit.h"

#define TEXT_MAX (64UL * 1024)

/* Replace every from in b by to; b ends up with the resulting length. */
static void
broker_replace(struct buf *b, const char *from, const char *to)
{
	struct buf out = BUF_INIT(TEXT_MAX);
	struct str rest = buf_str(b);
	ptrdiff_t at;

	while ((at = str_find(rest, str_of(from))) >= 0) {
		buf_put(&out, rest.p, (size_t)at);
		buf_puts(&out, to);
		rest.p += (size_t)at + strlen(from);
		rest.n -= (size_t)at + strlen(from);
	}
	buf_put_str(&out, rest);
	buf_free(b);
	*b = out;
}

const char *
tk_broker_gate(void)
{
	return tk_bin("../lib/mosquitto-gate.so");
}

void
tk_broker_put(struct buf *b, const char *name)
{
	struct buf file = BUF_INIT(TEXT_MAX);
	char path[512], here[480];
	char *text;

	snprintf(path, sizeof(path), "deploy/%s", name);
	text = tk_read_file(path, NULL);
	buf_puts(&file, text);
	free(text);
	ck_assert_ptr_nonnull(getcwd(here, sizeof(here)));
	snprintf(path, sizeof(path), "%s/deploy", here);
	broker_replace(&file, "/etc/soul", path);
	broker_replace(
	    &file, "/run/soul-gate/mosquitto-gate.so", tk_broker_gate());
	broker_replace(&file, "/run/soul/bodies", tk_dir());
	broker_replace(&file, "/run/soul", tk_dir());
	buf_put_str(b, buf_str(&file));
	buf_free(&file);
}

int
tk_broker_move(struct buf *b, int shipped)
{
	char from[32], to[64];
	int port = tk_port();

	snprintf(from, sizeof(from), "listener %d\n", shipped);
	snprintf(to, sizeof(to), "listener %d 127.0.0.1\n", port);
	ck_assert_int_ge(str_find(buf_str(b), str_of(from)), 0);
	broker_replace(b, from, to);
	return port;
}

void
tk_broker_any_rate(struct buf *b)
{
	broker_replace(b, "plugin_opt_acl_file ",
	    "plugin_opt_per_s 1000000\nplugin_opt_burst 1000000\n"
	    "plugin_opt_acl_file ");
}
