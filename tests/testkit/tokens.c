#include "testkit/tokens.h"

#include "auth/auth_internal.h"
#include "core/buf.h"
#include "testkit/testkit.h"

#define FILE_MAX (1024UL * 1024)

void
tk_tokens_write(const char *path, const struct tk_token *list, size_t n)
{
	struct buf out = BUF_INIT(FILE_MAX);
	struct auth_digest d;
	size_t i, k;

	buf_puts(&out, "{\"tokens\":[");
	for (i = 0; i < n; i++) {
		d = auth_digest_of(str_of(list[i].token));
		buf_printf(&out, "%s{\"sha256\":\"", i > 0 ? "," : "");
		for (k = 0; k < sizeof(d.bytes); k++)
			buf_printf(&out, "%02x", d.bytes[k]);
		buf_printf(&out, "\",%s}", list[i].rest);
	}
	buf_puts(&out, "]}");
	tk_write_file(path, out.p);
	buf_free(&out);
}
