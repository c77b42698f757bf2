#include "testkit/ws_wire.h"

#include <stdint.h>

void
ws_wire_put(struct buf *b, unsigned char first, struct str data)
{
	static const unsigned char mask[4] = { 0x37, 0xfa, 0x21, 0x3d };
	size_t i, length = data.n < 126 ? 0 : data.n < 65536 ? 2 : 8;

	buf_putc(b, (char)first);
	buf_putc(b,
	    (char)(0x80 |
		(length == 0          ? data.n
			: length == 2 ? 126
				      : 127)));
	for (i = length; i > 0; i--)
		buf_putc(b, (char)((uint64_t)data.n >> 8 * (i - 1)));
	buf_put(b, mask, sizeof(mask));
	for (i = 0; i < data.n; i++)
		buf_putc(b, (char)(data.p[i] ^ mask[i % 4]));
}

bool
ws_wire_take(struct str in, size_t *at, struct ws_wire_frame *f)
{
	const unsigned char *p = (const unsigned char *)in.p + *at;
	size_t i, left = in.n - *at, head = 2, n;

	if (left < 2)
		return false;
	n = p[1];
	if (n >= 126) {
		head = n == 126 ? 4 : 10;
		if (left < head)
			return false;
		for (i = 2, n = 0; i < head; i++)
			n = n << 8 | p[i];
	}
	if (left - head < n)
		return false;
	f->opcode = p[0] & 0x0f;
	f->data = (struct str){ (const char *)p + head, n };
	*at += head + n;
	return true;
}
