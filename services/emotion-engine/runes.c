/*
 * Folding of text, one pass.
 */
#include "runes.h"

#include <uchar.h>

#include "core/mem.h"

/*
 * Traditional characters of the lexicon's words in ascending order, and below
 * them the simplified ones.  Whole Unicode normalisation would cost more than
 * the recognition itself.
 */
static const char32_t traditional[] =
    U"並亂來係倉個們傷億別劇勁動厭厲員問啟喪單嗎嘆嘔噁嚇圖場壓壞夠"
    U"夢奮媽學實寧寫寬寵對帥幫幹張後從悶惡惱愛態慘慣慮憂憐憤應懶懷"
    U"懼戀撫擔敗於時書會東棄樂樣樸機歎歡歲歷殘氣沒淒淚淨渾滾滿潰為"
    U"無煉煩熱爛猶獎獨現當瘋癢發盡睏睜碼種穩終結絕絲經緊緒繃罵羨習"
    U"聞聲聽脫臟與興舊萬蕩蘇處虛蟲衝裝裡見視覺觸討訝話該誇說誰請謝"
    U"證變讓讚貝負費賞贏輕辭這運過選遺還釋錯鎮閉開閒關險難電靈靜順"
    U"預頭題顫飯驗驚髒鬆鬧鬱麼點";
static const char32_t simplified[] =
    U"并乱来系仓个们伤亿别剧劲动厌厉员问启丧单吗叹呕恶吓图场压坏够"
    U"梦奋妈学实宁写宽宠对帅帮干张后从闷恶恼爱态惨惯虑忧怜愤应懒怀"
    U"惧恋抚担败于时书会东弃乐样朴机叹欢岁历残气没凄泪净浑滚满溃为"
    U"无炼烦热烂犹奖独现当疯痒发尽困睁码种稳终结绝丝经紧绪绷骂羡习"
    U"闻声听脱脏与兴旧万荡苏处虚虫冲装里见视觉触讨讶话该夸说谁请谢"
    U"证变让赞贝负费赏赢轻辞这运过选遗还释错镇闭开闲关险难电灵静顺"
    U"预头题颤饭验惊脏松闹郁么点";

#define PAIRS (NELEM(traditional) - 1)
_Static_assert(sizeof(traditional) == sizeof(simplified), "one for each");

static uint32_t
fold(uint32_t r)
{
	size_t lo = 0, hi = PAIRS;

	if (r >= 'A' && r <= 'Z')
		return r - 'A' + 'a';
	if (r < 0x80)
		return r;
	if (r >= 0xff01 && r <= 0xff5e)
		return fold(r - 0xff01 + '!');
	if (r == 0x2018 || r == 0x2019)
		return '\'';
	if (r < 0x4e00 || r > 0x9fff)
		return r;
	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (traditional[mid] < r)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < PAIRS && traditional[lo] == r ? simplified[lo] : r;
}

static bool
blank(uint32_t r)
{
	return r == ' ' || r == '\t' || r == 0xa0 || r == 0x3000;
}

/* Joiners and variation selectors, which are not seen. */
static bool
unseen(uint32_t r)
{
	return r < ' ' || r == 0x7f || (r >= 0x200b && r <= 0x200d) ||
	    r == 0xfe0f || r == 0xfeff;
}

bool
rune_latin(uint32_t r)
{
	return (r >= 'a' && r <= 'z') || (r >= '0' && r <= '9') || r == '\'' ||
	    (r >= 0xc0 && r < 0x250);
}

size_t
runes_read(struct str s, uint32_t *dst, size_t max)
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
		r = fold((uint32_t)c);
		if (r == '\n')
			r = ',';
		if (blank(r)) {
			gap = true;
			continue;
		}
		if (unseen(r))
			continue;
		if (gap && n > 0 && rune_latin(dst[n - 1]) && rune_latin(r)) {
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
rune_write(uint32_t r, char p[4])
{
	static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	size_t n = r < 0x80 ? 1 : r < 0x800 ? 2 : r < 0x10000 ? 3 : 4, i;

	if (n == 1) {
		p[0] = (char)r;
		return 1;
	}
	for (i = n; i-- > 1; r >>= 6)
		p[i] = (char)(0x80 | (r & 0x3f));
	p[0] = (char)(lead[n] | r);
	return n;
}
