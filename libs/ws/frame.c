#include "ws/frame.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

#define FIN      0x80
#define HEAD_MAX 10

static size_t
frame_put_head(unsigned char dst[HEAD_MAX], enum frame_kind kind, size_t n)
{
	size_t i, length = n < 126 ? 0 : n < 65536 ? 2 : 8;

	dst[0] = (unsigned char)(FIN | kind);
	dst[1] = (unsigned char)(length == 0 ? n : length == 2 ? 126 : 127);
	for (i = 0; i < length; i++)
		dst[2 + i] =
		    (unsigned char)((uint64_t)n >> 8 * (length - 1 - i));
	return 2 + length;
}

struct frame *
frame_new(enum frame_kind kind, struct str data)
{
	unsigned char head[HEAD_MAX];
	size_t n = frame_put_head(head, kind, data.n);
	struct frame *f = mem_alloc(sizeof(*f) + n + data.n);
	char *bytes = (char *)(f + 1);

	assert(kind < FRAME_CLOSE || data.n <= WS_CONTROL_MAX);
	memcpy(bytes, head, n);
	if (data.n > 0)
		memcpy(bytes + n, data.p, data.n);
	*f = (struct frame){
		.bytes = { bytes, n + data.n }, .refs = 1, .kind = kind
	};
	return f;
}

struct frame *
frame_new_close(unsigned code, struct str reason)
{
	char payload[WS_CONTROL_MAX + 1];

	if (code == WS_CLOSE_NO_STATUS)
		return frame_new(FRAME_CLOSE, STR(""));
	payload[0] = (char)(code >> 8);
	payload[1] = (char)code;
	str_copy(reason, payload + 2, sizeof(payload) - 2);
	return frame_new(
	    FRAME_CLOSE, (struct str){ payload, 2 + strlen(payload + 2) });
}

struct str
frame_payload(const struct frame *f)
{
	size_t n = (unsigned char)f->bytes.p[1];
	size_t head = n < 126 ? 2 : n == 126 ? 4 : HEAD_MAX;

	return (struct str){ f->bytes.p + head, f->bytes.n - head };
}

struct frame *
frame_ref(struct frame *f)
{
	f->refs++;
	return f;
}

void
frame_unref(struct frame *f)
{
	if (--f->refs == 0)
		free(f);
}
