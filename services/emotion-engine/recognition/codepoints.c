/*
 * Normalization of text to comparable code points, in one pass, and its units.
 */
#include "recognition/codepoints.h"

#include <uchar.h>

#include "core/mem.h"

/*
 * Traditional characters of the lexicon's words in ascending order, and their
 * simplified forms.  Full Unicode normalization would cost more than the
 * recognition.
 */
static const char32_t traditional_chars[] =
    U"並亂來係倉個們傷億別劇勁動厭厲員問啟喪單嗎嘆嘔噁嚇圖場壓壞夠"
    U"夢奮媽學實寧寫寬寵對帥幫幹張後從悶惡惱愛態慘慣慮憂憐憤應懶懷"
    U"懼戀撫擔敗於時書會東棄樂樣樸機歎歡歲歷殘氣沒淒淚淨渾滾滿潰為"
    U"無煉煩熱爛猶獎獨現當瘋癢發盡睏睜碼種穩終結絕絲經緊緒繃罵羨習"
    U"聞聲聽脫臟與興舊萬蕩蘇處虛蟲衝裝裡見視覺觸討訝話該誇說誰請謝"
    U"證變讓讚貝負費賞贏輕辭這運過選遺還釋錯鎮閉開閒關險難電靈靜順"
    U"預頭題顫飯驗驚髒鬆鬧鬱麼點";
static const char32_t simplified_chars[] =
    U"并乱来系仓个们伤亿别剧劲动厌厉员问启丧单吗叹呕恶吓图场压坏够"
    U"梦奋妈学实宁写宽宠对帅帮干张后从闷恶恼爱态惨惯虑忧怜愤应懒怀"
    U"惧恋抚担败于时书会东弃乐样朴机叹欢岁历残气没凄泪净浑滚满溃为"
    U"无炼烦热烂犹奖独现当疯痒发尽困睁码种稳终结绝丝经紧绪绷骂羡习"
    U"闻声听脱脏与兴旧万荡苏处虚虫冲装里见视觉触讨讶话该夸说谁请谢"
    U"证变让赞贝负费赏赢轻辞这运过选遗还释错镇闭开闲关险难电灵静顺"
    U"预头题颤饭验惊脏松闹郁么点";

#define PAIRS (NELEM(traditional_chars) - 1)
_Static_assert(
    sizeof(traditional_chars) == sizeof(simplified_chars), "one for each");

static uint32_t
codepoint_fold(uint32_t r)
{
	size_t lo = 0, hi = PAIRS;

	if (r >= 'A' && r <= 'Z')
		return r - 'A' + 'a';
	if (r < 0x80)
		return r;
	if (r >= 0xff01 && r <= 0xff5e)
		return codepoint_fold(r - 0xff01 + '!');
	if (r == 0x2018 || r == 0x2019)
		return '\'';
	if (r < 0x4e00 || r > 0x9fff)
		return r;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (traditional_chars[mid] < r)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < PAIRS && traditional_chars[lo] == r ? simplified_chars[lo]
							: r;
}

static bool
codepoint_is_blank(uint32_t r)
{
	return r == ' ' || r == '\t' || r == 0xa0 || r == 0x3000;
}

/* Control characters, joiners and variation selectors. */
static bool
codepoint_is_invisible(uint32_t r)
{
	return r < ' ' || r == 0x7f || (r >= 0x200b && r <= 0x200d) ||
	    r == 0xfe0f || r == 0xfeff;
}

bool
codepoint_is_latin(uint32_t r)
{
	return (r >= 'a' && r <= 'z') || (r >= '0' && r <= '9') || r == '\'' ||
	    (r >= 0xc0 && r < 0x250);
}

size_t
codepoints_fold(struct str s, uint32_t *dst, size_t max)
{
	size_t pos = 0, n = 0;
	bool gap = false;

	while (n < max && pos < s.n) {
		int32_t c = str_utf8_next(s, &pos);
		uint32_t r;

		if (c < 0) {
			pos++;
			continue;
		}
		r = codepoint_fold((uint32_t)c);
		if (r == '\n')
			r = ',';
		if (codepoint_is_blank(r)) {
			gap = true;
			continue;
		}
		if (codepoint_is_invisible(r))
			continue;
		if (gap && n > 0 && codepoint_is_latin(dst[n - 1]) &&
		    codepoint_is_latin(r)) {
			dst[n++] = ' ';
			if (n == max)
				break;
		}
		gap = false;
		dst[n++] = r;
	}
	return n;
}

size_t
codepoint_encode(uint32_t r, char p[4])
{
	static const unsigned char first_byte[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	size_t n = r < 0x80 ? 1 : r < 0x800 ? 2 : r < 0x10000 ? 3 : 4, i;

	if (n == 1) {
		p[0] = (char)r;
		return 1;
	}
	for (i = n; i-- > 1; r >>= 6)
		p[i] = (char)(0x80 | (r & 0x3f));
	p[0] = (char)(first_byte[n] | r);
	return n;
}

#define SAME_MAX 3 /* longest run of one character */
#define STEM     5 /* letters */
#define NUMBER   1

static bool
unit_is_cjk(uint32_t r)
{
	return (r >= 0x3400 && r <= 0x9fff) || (r >= 0x20000 && r <= 0x3ffff);
}

/* Three or more equal letters count once: "soooo" is "so", "good" stays. */
static bool
unit_is_elongated(const uint32_t *text, size_t n, size_t from, size_t at)
{
	return at > from && text[at - 1] == text[at] &&
	    ((at > from + 1 && text[at - 2] == text[at]) ||
		(at + 1 < n && text[at + 1] == text[at]));
}

static struct unit
unit_latin(const uint32_t *text, size_t n, size_t at)
{
	struct unit u = { .id = UINT64_C(0xcbf29ce484222325) };
	bool number = true;
	size_t i, letters = 0;

	for (i = at; i < n && codepoint_is_latin(text[i]); i++) {
		number = number && text[i] >= '0' && text[i] <= '9';
		if (unit_is_elongated(text, n, at, i))
			continue;
		u.id = (u.id ^ text[i]) * UINT64_C(0x100000001b3);
		if (++letters == STEM)
			u.stem = u.id;
	}
	u.end = i;
	if (number)
		return (struct unit){ .id = NUMBER, .end = i };
	u.id |= 2;
	return u;
}

struct unit
unit_at(const uint32_t *text, size_t n, size_t at)
{
	struct unit u = { .end = at + 1 };
	uint32_t r = text[at];
	uint64_t run = 0;

	if (codepoint_is_latin(r))
		return unit_latin(text, n, at);
	if (r == ' ')
		return u;
	if (unit_is_cjk(r)) {
		u.chinese = true;
		while (run < SAME_MAX && run < at && text[at - 1 - run] == r)
			run++;
		u.id = run == SAME_MAX ? 0 : (uint64_t)r << 2;
		return u;
	}
	while (u.end < n && text[u.end] == r)
		u.end++;
	run = u.end - at < SAME_MAX ? u.end - at : SAME_MAX;
	u.id = (run << 32 | r) << 2;
	return u;
}
