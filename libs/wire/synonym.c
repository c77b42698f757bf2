/*
 * A table of rows; a word may stand in several, and then is ambiguous where
 * more than one of them is offered.
 */
#include "wire/synonym.h"

#include <stdint.h>

#include "core/mem.h"

/* The first two rows are also what true and false mean. */
static const char *const rows[] = {
	"on true yes enable enabled 开 打开 开启 开着 启用 启动 是",
	"off false no disable disabled 关 关闭 关掉 关上 关着 停用 禁用 否",
	"open 开 打开 张开 拉开 开启",
	"close closed shut 关 关闭 关上 合上 闭上",
	"start begin 开始 启动",
	"stop halt 停 停止 停下 别动",
	"pause 暂停",
	"resume continue 继续",
	"up 上 向上 往上 上面 increase raise 调高 升高",
	"down 下 向下 往下 下面 decrease lower 调低 降低",
	"left 左 向左 往左 左边",
	"right 右 向右 往右 右边",
	"forward forwards front 前 向前 往前 前进",
	"back backward backwards 后 向后 往后 后退",
	"high 高",
	"medium middle mid 中 中等",
	"low 低",
	"big large 大",
	"small little 小",
	"fast quick 快 快速",
	"slow 慢 慢速",
	"auto automatic 自动",
	"manual 手动",
	"all 全部 所有",
	"none 无",
	"nod 点头",
	"shake shake_head 摇头",
	"set_color setcolor change_color 设置颜色 换颜色 变色",
	"red 红 红色",
	"orange 橙 橙色 橘色",
	"yellow 黄 黄色",
	"green 绿 绿色",
	"cyan 青 青色",
	"blue 蓝 蓝色",
	"purple violet 紫 紫色",
	"pink 粉 粉色 粉红 粉红色",
	"white 白 白色",
	"black 黑 黑色",
	"gray grey 灰 灰色",
	"brown 棕 棕色 褐色",
	"warm 暖 暖光 暖色",
	"cold cool 冷 冷光 冷色",
};

/* U+FF01 to U+FF5E are ASCII, wide; U+3000 is a wide blank. */
static int32_t
half(int32_t c)
{
	if (c >= 0xFF01 && c <= 0xFF5E)
		return c - 0xFEE0;
	return c == 0x3000 ? ' ' : c;
}

struct str
wire_word_half(struct str s, char dst[WIRE_WORD_MAX])
{
	size_t pos = 0, at = 0, n = 0;
	int32_t c;

	while (at = pos, (c = str_utf8_next(s, &pos)) >= 0) {
		int32_t h = half(c);
		size_t len = h < 0x80 ? 1 : pos - at;
		if (n + len >= WIRE_WORD_MAX)
			return str_trim(s);
		if (h < 0x80)
			dst[n] = (char)h;
		else
			memcpy(dst + n, s.p + at, len);
		n += len;
	}
	return str_trim((struct str){ dst, n });
}

static char
fold(char c)
{
	if (c == '-' || c == ' ')
		return '_';
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool
wire_word_equal(struct str a, struct str b)
{
	char at[WIRE_WORD_MAX], bt[WIRE_WORD_MAX];

	a = wire_word_half(a, at);
	b = wire_word_half(b, bt);
	if (a.n != b.n)
		return false;
	for (size_t i = 0; i < a.n; i++) {
		if (fold(a.p[i]) != fold(b.p[i]))
			return false;
	}
	return true;
}

static bool
row_has(const char *row, struct str word)
{
	struct str rest = str_of(row);

	while (rest.n > 0) {
		if (wire_word_equal(str_split(&rest, ' '), word))
			return true;
	}
	return false;
}

bool
wire_word_same(struct str a, struct str b)
{
	for (size_t i = 0; i < NELEM(rows); i++) {
		if (row_has(rows[i], a) && row_has(rows[i], b))
			return true;
	}
	return false;
}

int
wire_word_truth(struct str s)
{
	if (row_has(rows[0], s))
		return 1;
	return row_has(rows[1], s) ? 0 : -1;
}
