#include "testkit/ws_frames.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

const struct ws_frames_row ws_frames_rows[] = {
	/* Messages. */
	{ "81 hello", "text=hello " },
	{ "81 ", "text= " },
	{ "82 ", "binary= " },
	{ "82 \\01\\ff\\80", "binary=\001\377\200 " },
	{ "81 a | 81 b | 82 c", "text=a text=b binary=c " },
	{ "81*125", "text=125 bytes " },
	{ "81*126", "text=126 bytes " },
	{ "81*127", "text=127 bytes " },
	{ "81*128", "text=128 bytes " },
	{ "81*1024", "text=1024 bytes " },
	{ "81*1025", "error=1009 " },
	{ "81 a | 81*1025 | 81 b", "text=a error=1009 " },
	/* Fragments. */
	{ "01 hel | 80 lo", "text=hello " },
	{ "01 a | 00 b | 00 c | 80 d", "text=abcd " },
	{ "02 a | 00 b | 80 ", "binary=ab " },
	{ "01  | 80 ", "text= " },
	{ "01  | 00  | 00  | 80 a", "text=a " },
	{ "01*1000 | 80*24", "text=1024 bytes " },
	{ "01*1000 | 80*25", "error=1009 " },
	{ "01*500 | 00*500 | 00*25 | 80 ", "error=1009 " },
	{ "01 a | 80 b | 01 c | 80 d", "text=ab text=cd " },
	{ "01 a", "" },
	{ "00 a", "error=1002 " },
	{ "80 a", "error=1002 " },
	{ "81 a | 80 b", "text=a error=1002 " },
	{ "01 a | 81 b", "error=1002 " },
	{ "01 a | 01 b", "error=1002 " },
	{ "01 a | 82 b", "error=1002 " },
	{ "02 a | 02 b", "error=1002 " },
	{ "01 a | 00 b | 81 c", "error=1002 " },
	/* Control frames, also between fragments. */
	{ "89 ", "ping= " },
	{ "89 hi", "ping=hi " },
	{ "89*125", "ping=125 bytes " },
	{ "8a ", "pong= " },
	{ "8a hi", "pong=hi " },
	{ "8a*125", "pong=125 bytes " },
	{ "89 a | 89 b | 8a c", "ping=a ping=b pong=c " },
	{ "01 hel | 89 p | 80 lo", "ping=p text=hello " },
	{ "01 a | 89 1 | 00 b | 8a 2 | 89 3 | 80 c",
	    "ping=1 pong=2 ping=3 text=abc " },
	{ "01 a | 88 \\03\\e8", "close=1000/ " },
	{ "81 a | 89 b | 81 c", "text=a ping=b text=c " },
	{ "89*126", "error=1002 " },
	{ "8a*126", "error=1002 " },
	{ "88*126", "error=1002 " },
	{ "89*1000", "error=1002 " },
	{ "09 a", "error=1002 " },
	{ "0a a", "error=1002 " },
	{ "08 \\03\\e8", "error=1002 " },
	{ "01 a | 09 b | 80 c", "error=1002 " },
	/* Masks, reserved bits and opcodes. */
	{ "81!a", "error=1002 " },
	{ "82!a", "error=1002 " },
	{ "89!a", "error=1002 " },
	{ "88!\\03\\e8", "error=1002 " },
	{ "81 a | 81!b", "text=a error=1002 " },
	{ "c1 a", "error=1002 " },
	{ "a1 a", "error=1002 " },
	{ "91 a", "error=1002 " },
	{ "f1 a", "error=1002 " },
	{ "c9 a", "error=1002 " },
	{ "c8 \\03\\e8", "error=1002 " },
	{ "01 a | c0 b", "error=1002 " },
	{ "83 a", "error=1002 " },
	{ "84 a", "error=1002 " },
	{ "85 a", "error=1002 " },
	{ "86 a", "error=1002 " },
	{ "87 a", "error=1002 " },
	{ "8b a", "error=1002 " },
	{ "8c a", "error=1002 " },
	{ "8d a", "error=1002 " },
	{ "8e a", "error=1002 " },
	{ "8f a", "error=1002 " },
	{ "03 a", "error=1002 " },
	/* Lengths: not minimal, or announced and never sent. */
	{ "=81fe007d00000000", "error=1002 " },
	{ "=81ff00000000000000050000000061", "error=1002 " },
	{ "=81ff000000000000ffff0000000061", "error=1002 " },
	{ "=81ff40000000000000000000000061", "error=1009 " },
	{ "=81ffffffffffffffffff0000000061", "error=1002 " },
	{ "=81fe80000000000061", "error=1009 " },
	{ "=89fe007e0000000061", "error=1002 " },
	{ "=81", "" },
	{ "=8185000000", "" },
	/* Text. */
	{ "81 \\e4\\bd\\a0\\e5\\a5\\bd", "text=\344\275\240\345\245\275 " },
	{ "81 \\f0\\9f\\98\\80", "text=\360\237\230\200 " },
	{ "01 \\e4 | 00 \\bd | 80 \\a0", "text=\344\275\240 " },
	{ "01 \\f0\\9f | 89  | 80 \\98\\80", "ping= text=\360\237\230\200 " },
	{ "81 \\ff", "error=1007 " },
	{ "81 a\\80", "error=1007 " },
	{ "81 \\c0\\af", "error=1007 " },
	{ "81 \\e0\\80\\af", "error=1007 " },
	{ "81 \\ed\\a0\\80", "error=1007 " },
	{ "81 \\f4\\90\\80\\80", "error=1007 " },
	{ "81 \\f5\\80\\80\\80", "error=1007 " },
	{ "81 \\e4\\bd", "error=1007 " },
	{ "01 \\e4 | 80 a", "error=1007 " },
	{ "01 \\e4\\bd | 80 ", "error=1007 " },
	{ "01 \\ff | 80 a", "error=1007 " },
	{ "01 abcdefghij\\ed | 00 \\a0", "error=1007 " },
	{ "82 \\ed\\a0\\80", "binary=\355\240\200 " },
	/* Close frames. */
	{ "88 ", "close=1005/ " },
	{ "88 \\03\\e8", "close=1000/ " },
	{ "88 \\03\\e9bye", "close=1001/bye " },
	{ "88 \\03\\e8\\e4\\bd\\a0", "close=1000/\344\275\240 " },
	{ "88 \\0b\\b8", "close=3000/ " },
	{ "88 \\13\\87", "close=4999/ " },
	{ "88 \\03\\f6", "close=1014/ " },
	{ "88 \\03", "error=1002 " },
	{ "88 \\03\\e7", "error=1002 " },
	{ "88 \\00\\00", "error=1002 " },
	{ "88 \\03\\ec", "error=1002 " },
	{ "88 \\03\\ed", "error=1002 " },
	{ "88 \\03\\ee", "error=1002 " },
	{ "88 \\03\\f7", "error=1002 " },
	{ "88 \\07\\d0", "error=1002 " },
	{ "88 \\0b\\b7", "error=1002 " },
	{ "88 \\13\\88", "error=1002 " },
	{ "88 \\ff\\ff", "error=1002 " },
	{ "88 \\03\\e8\\ff", "error=1007 " },
	{ "88 \\03\\e8\\e4\\bd", "error=1007 " },
	/* Nothing is read after the end. */
	{ "88 \\03\\e8 | 81 a", "close=1000/ " },
	{ "81!a | 81 b", "error=1002 " },
};
const size_t ws_frames_n = NELEM(ws_frames_rows);

/* See ws_frames_put(). */
static void
frames_put_one(struct buf *b, const char *spec, size_t n)
{
	static const unsigned char mask[4] = { 0x37, 0xfa, 0x21, 0x3d };
	struct buf data = BUF_INIT(1 << 20);
	char form = spec[2], hex[3] = "";
	size_t i;

	if (spec[0] == '=') {
		for (i = 1; i + 1 < n; i += 2) {
			memcpy(hex, spec + i, 2);
			buf_putc(b, (char)strtoul(hex, NULL, 16));
		}
		return;
	}
	memcpy(hex, spec, 2);
	buf_putc(b, (char)strtoul(hex, NULL, 16));
	if (form == '*')
		for (i = strtoul(spec + 3, NULL, 10); i > 0; i--)
			buf_putc(&data, 'x');
	for (i = 3; form != '*' && i < n; i++) {
		if (spec[i] == '\\') {
			memcpy(hex, spec + i + 1, 2);
			buf_putc(&data, (char)strtoul(hex, NULL, 16));
			i += 2;
		} else {
			buf_putc(&data, spec[i]);
		}
	}
	unsigned masked = form == '!' ? 0 : 0x80;
	if (data.n < 126) {
		buf_putc(b, (char)(masked | data.n));
	} else {
		buf_putc(b, (char)(masked | 126));
		buf_putc(b, (char)(data.n >> 8));
		buf_putc(b, (char)data.n);
	}
	if (masked != 0)
		buf_put(b, mask, 4);
	for (i = 0; i < data.n; i++)
		buf_putc(b,
		    (char)(masked != 0 ? data.p[i] ^ mask[i % 4] : data.p[i]));
	buf_free(&data);
}

void
ws_frames_put(struct buf *b, const char *row)
{
	const char *end;

	for (; row != NULL; row = end != NULL ? end + 3 : NULL) {
		end = strstr(row, " | ");
		frames_put_one(
		    b, row, end != NULL ? (size_t)(end - row) : strlen(row));
	}
}

void
ws_frames_put_seen(struct buf *b, const char *what, struct str s)
{
	buf_puts(b, what);
	if (s.n > 64)
		buf_printf(b, "%zu bytes", s.n);
	else
		buf_put_str(b, s);
	buf_putc(b, ' ');
}
