/*
 * The words by kind, and one automaton over all of them.
 */
#include "text/vocabulary.h"

#include <stdlib.h>

#include "core/mem.h"
#include "text/automaton.h"
#include "zh/hanzi.h"

#define WORD_MAX 64 /* bytes */
/* Hits before overlapping ones are removed. */
#define RAW_MAX 2048

/* Words of one kind with one value; separated by blanks, "_" is a blank. */
struct word_group {
	enum word_kind kind;
	const char *value; /* of an entity; NULL of others */
	const char *words;
};

static const struct word_group vocabulary_groups[] = {
	/* entities, as catalogs name them */
	{ WORD_ACTION, "open",
	    "打开 开启 拉开 开一下 启动 点亮 亮起来 亮起 亮上 开 turn_on "
	    "switch_on open "
	    "켜줘 켜 つけて 開けて 开けて" },
	{ WORD_ACTION, "close",
	    "关掉 关闭 关上 关了 拉上 合上 关一下 熄灭 关 灭掉 灭了 灭一下 "
	    "熄掉 熄了 熄 灭 turn_off switch_off shut_off kill_the "
	    "close shut shut_down 꺼줘 꺼 消して 闭めて" },
	{ WORD_ACTION, "stop", "停止 停掉 停下 停 stop halt" },
	{ WORD_ACTION, "set",
	    "设置 设定 设成 设为 设 定 订 set create make_a add" },
	{ WORD_ACTION, "remind",
	    "提醒 叫醒 叫我 喊我 通知我 remind wake 알려 知らせて" },
	{ WORD_ACTION, "memo", "记录 记一下 记下 记 note_down memo" },
	{ WORD_VERB, NULL,
	    "调到 调成 调 变成 变 换成 换 改成 改 暂停 继续 下一 上一 切到 "
	    "切换 切 加 减 转 抬 低头 点头 摇头 点个头 摇个头 动一 走 去 "
	    "回 开始 结束 扫 打扫 清扫 拖 拍 念 读 跳 充电 静音 收藏 循环 "
	    "取消 删除 启用 喂 铲 加水 换水 倒水 浇水 浇花 清理 清洁 清洗 "
	    "消毒 通风 换气 净化 按摩 加热 预热 煮 蒸 炒 炖 焖 烧水 保温 "
	    "呼叫 打电话 打个电话 拨打 挂断 接听 发送 "
	    "发消息 朗读 朗诵 背诵 讲 播报 报时 导航 前进 后退 倒车 左转 "
	    "右转 转弯 转圈 掉头 加速 减速 刹车 停车 站住 住手 跟随 跟着 "
	    "跟我来 过来 坐下 起立 站起来 躺下 趴下 握手 挥手 招手 举手 "
	    "举起 抬起 放下 抓住 松开 推 拉 踢 扭 眨眼 闭眼 睁眼 微笑 跳舞 "
	    "唱歌 录音 录像 拍照 自拍 扫描 打印 升温 降温 加湿 制冷 制热 "
	    "扫风 摆风 计时 倒计时 休眠 待机 关机 开机 重启 喷 按一下 按下 "
	    "起床 吃饭 吃药 睡觉 出门 上班 上学 上课 下班 喝水 做饭 洗澡 "
	    "go_to dance feed call take_a show spin follow sit stand wave "
	    "cook boil brew water pause resume next previous "
	    "skip change move nod shake start begin end go clean sweep "
	    "switch put mute unmute repeat shuffle cancel delete louder "
	    "quieter turn 按 摁 戳 摸 敲" },
	{ WORD_VERB, "play",
	    "播放 放一 放点 放 播 播一 听 来一 来点 来个 来首 唱 play "
	    "put_on" },
	{ WORD_VERB, "up",
	    "调高 调大 调亮 升 升高 增大 加大 提高 increase raise brighten "
	    "brighter warmer higher" },
	{ WORD_VERB, "down",
	    "调低 调小 调暗 降 降低 减小 decrease lower dim "
	    "dimmer darker cooler softer" },
	{ WORD_VERB, "lock", "锁上 锁好 锁门 上锁 反锁 锁 lock" },
	{ WORD_VERB, "unlock", "解锁 开锁 unlock" },
	{ WORD_VERB, "find", "查 查询 查一下 看看 看一下 搜 搜索 找 search" },
	{ WORD_DEVICE, "curtain", "窗帘 curtain curtains カーテン 커튼" },
	{ WORD_DEVICE, "lamp", "台灯 lamp desk_lamp" },
	{ WORD_DEVICE, "light", "灯 灯光 电灯 light lights ライト 불 조명" },
	{ WORD_DEVICE, "alarm", "闹钟 闹铃 alarm 알람 アラーム" },
	{ WORD_DEVICE, "reminder", "提醒事项 reminder" },
	{ WORD_DEVICE, "memo", "备忘录 备忘 memo" },
	{ WORD_DEVICE, "tv", "电视机 电视 tv" },
	{ WORD_DEVICE, "air_conditioner", "空调 air_conditioner" },
	{ WORD_DEVICE, "fan", "风扇 电扇 fan" },
	{ WORD_ROOM, "bedroom", "卧室 主卧 次卧 房间 bedroom 침실 寝室" },
	{ WORD_ROOM, "living_room", "客厅 living_room 거실 リビング" },
	{ WORD_ROOM, "kitchen", "厨房 kitchen 주방 キッチン" },
	{ WORD_ROOM, "study_room", "书房 study 서재 书斋" },
	{ WORD_ROOM, "balcony", "阳台 balcony" },
	{ WORD_ROOM, "dining_room", "餐厅 饭厅 dining_room" },
	{ WORD_ROOM, "hallway", "走廊 过道 玄关 门厅 hallway" },
	{ WORD_ROOM, "kids_room", "儿童房 婴儿房 nursery" },
	{ WORD_ROOM, "bathroom",
	    "卫生间 洗手间 浴室 厕所 bathroom 화장실 トイレ" },
	{ WORD_COLOR, "red", "红色 红 red" },
	{ WORD_COLOR, "green", "绿色 绿 green" },
	{ WORD_COLOR, "white", "白色 白 white" },
	{ WORD_COLOR, "blue", "蓝色 蓝 blue" },
	{ WORD_COLOR, "yellow", "黄色 黄 yellow" },
	{ WORD_COLOR, "purple", "紫色 紫 purple" },
	{ WORD_COLOR, "orange", "橙色 橙 orange" },
	{ WORD_COLOR, "pink", "粉色 粉红色 粉红 pink" },
	{ WORD_COLOR, "warm", "暖色 暖白 暖黄 暖光 warm" },
	{ WORD_COLOR, "black", "黑色 black" },

	/* between requests */
	{ WORD_CONJUNCTION, NULL,
	    "并且 然后 同时 而且 接着 顺便 并 再 随后 另外 还有 还要 , ; "
	    "그리고 그다음 다음에 또한 そして それから あと それと さらに "
	    "最后 完了再 之后再 and_then then also plus after_that" },
	{ WORD_LINK, NULL, "、 和 跟 与 以及 and" },
	{ WORD_FULL_STOP, NULL, "。 ! … ~ \n ." },
	{ WORD_QUESTION_MARK, NULL, "?" },

	/* opaque words */
	{ WORD_OPAQUE, NULL,
	    "就是 开始 暂停 再见 再次 再说 再来 再也 再会 再三 一再 并列 "
	    "合并 并不 并没 并非 最后一 开心 开会 开车 开玩笑 公开 离开 "
	    "展开 开学 开饭 开水 开放 开发 开除 开花 开口 开朗 开胃 开销 "
	    "开幕 开头 开业 开支 分开 避开 躲开 走开 想开 看开 开开心心 "
	    "开春 开端 开价 开奖 关心 关系 关于 有关 关注 关键 相关 海关 "
	    "机关 难关 关怀 关爱 关联 无关 关节 灯塔 灯谜 灯笼 灯具店 灯会 "
	    "记得 日记 笔记 书记 登记 记者 牢记 记忆 记住 一定 不一定 决定 "
	    "肯定 确定 固定 稳定 规定 约定 否定 特定 必定 淡定 定时 预定 "
	    "设计 建设 设备 订单 订阅 放学 放假 放心 放弃 放松 解放 放手 "
	    "放屁 播种 广播 变化 变态 改变 改天 换季 调查 调皮 空调 调料 "
	    "强调 单调 来自 本来 原来 后来 从来 越来越 将来 未来 起来 出来 "
	    "过来 回来 进来 来得及 来不及 看来 来电 加班 加油 更加 参加 "
	    "增加 减肥 升学 降温 降价 转眼 转账 走神 走路 去世 回答 回家 "
	    "回忆 回复 转告 拍照 念叨 念书 读书 唱歌 跳舞 听说 听话 好听 "
	    "特别 别人 别墅 分别 区别 个别 级别 性别 告别 类别 别的 别致 "
	    "辨别 别名 识别 别忘了 别忘记 别忘 别说 不要忘了 不要忘记 "
	    "不要忘 别客气 别介意 不好意思 不错 不客气 差不多 不得不 要不 "
	    "要不要 能不能 是不是 可不可以 会不会 好不好 行不行 不然 不如 "
	    "不过 不管 不光 不但 不仅 对不起 受不了 忍不住 看不见 看不清 "
	    "听不清 听不见 睡不着 不够 不亮 动不了 不行 不舒服 不小心 "
	    "不知道 不懂 没关系 没事 没什么 不用谢 不用客气 停车 停电 停机 "
	    "暂停键 白天 明白 表白 白云 空白 白菜 白痴 红包 红人 口红 红薯 "
	    "网红 绿茶 黄瓜 黄金 蓝天 粉丝 面粉 随便什么 什么都行 "
	    "什么都可以 点什么 什么的 随便哪 如果可以的话 可以的话 "
	    "方便的话 如果方便的话 不好吗 不行吗 不对吗 不要再 别再 不再 "
	    "不许再 不能再 不用再 先别再 没有 还没有 有没有 笔记本 天气 "
	    "气氛 刚好 金刚 刚果 变形金刚 一会 一会儿 会议 机会 社会 等会 "
	    "等会儿 待会 待会儿 聚会 学会 不会 会员 会话 宴会 班会 家长会 "
	    "音乐会 舞会 晚会 快乐 快递 快餐 愉快 凉快 赶快 尽快 飞快 痛快 "
	    "勤快 快车 快捷 快充 慢性 走私 走势 走向 走运 停止键 推荐 "
	    "推迟 推销 推理 拉面 拉肚子 巴拉 沙拉 拉萨 扭伤 扭曲 讲座 讲究 "
	    "讲台 演讲 喷嚏 喷泉 检查 警察 手机 手表 手套 手术 手工 手艺 "
	    "手续 手册 手段 手指 手气 手感 手动 手法 选手 对手 歌手 助手 "
	    "高手 新手 水手 凶手 分手 洗手 洗手间 洗手液 随手 顺手 亲手 "
	    "二手 二手车 左右手 头发 头疼 头痛 头晕 头像 头条 石头 木头 "
	    "馒头 枕头 骨头 舌头 罐头 码头 镜头 摄像头 街头 念头 老头 山头 "
	    "前头 后头 里头 外头 水龙头 喇叭花 大灯泡 车灯泡 低头族 就算 "
	    "就业 成就 迁就 将就 就是说 早就 勇敢 敢情 要求 不麻烦的话 "
	    "没问题的话 有空的话 没事的话 行的话 听话的话 mr. mrs. dr. "
	    "e.g. i.e. as_well and_a_half an_hour_and 等一下再 等会再 "
	    "等会儿再 待会再 待会儿再 扫地机 洗衣机 洗碗机 拖地机 跳舞机 "
	    "游戏机 打印机 录音机 照相机 收音机 吹风机 充电器 充电宝 "
	    "充电线 充电桩 按照 按时 按理 认真 天真 真正 真实 偷偷摸摸" },
	{ WORD_OPAQUE, NULL,
	    "路灯 车灯 尾灯 开门见山 开门大吉 关门大吉 开门红 打开天窗 "
	    "打开心扉 打开话匣子 打开局面 打开思路 打开市场 开夜车 开小灶 "
	    "开倒车 红绿灯 交通灯 信号灯 绿灯亮 红灯亮 黄灯亮 红灯停 绿灯行 "
	    "红灯的 "
	    "绿灯的 后盖 后备箱 后台 后排 消灭 毁灭 灭火 灭绝 "
	    "灭亡 熄火 熄屏 点头之交 traffic_light traffic_lights "
	    "light_bulb light_bulbs light_switch light_year light_years "
	    "会儿 听见没有 听到没有 听见没 听到没 听见了吗 听到了吗 知道没 "
	    "明白没 懂了没 知道吗 听见吗" },

	/* sentence types that are not requests */
	{ WORD_PROHIBITION, NULL,
	    "不要再 别再 不再 不许再 不能再 不用再 先别再 别 不要 不用 "
	    "不必 不准 不许 甭 勿 莫 无需 不需要 不想 不想要 没让 没叫 "
	    "懒得 不是让 不是叫 不是要 先不 先别 暂时不 用不着 没要 没说要 "
	    "stop_telling stop_asking 禁止 不能 不可以 敢 不是 don't dont "
	    "do_not don’t never "
	    "no_need not don't_need without shouldn't 不让 我自己 自己来" },
	{ WORD_NEGATION, NULL, "不 没 没有 还没 还没有" },
	{ WORD_CANCEL, NULL,
	    "取消 撤销 撤消 删除 删掉 删了 去掉 解除 作废 移除 清除 cancel "
	    "delete remove undo" },
	{ WORD_WH, NULL,
	    "什么 为什么 怎么 怎样 如何 咋 啥 谁 哪 哪里 哪儿 几点 几号 "
	    "几度 几档 几级 几瓦 几个 几首 多少 多久 多大 多高 多长 多远 多亮 "
	    "多快 多慢 "
	    "多重 多宽 多深 多冷 多热 多贵 多便宜 多厉害 哪些 哪个 干嘛 "
	    "干吗 干啥 咋样 怎么样 有何 为啥 是不是 有没有 会不会 要不要 "
	    "为何 何时 是否 how what why when where who which whose what's "
	    "how's who's where's is_the is_my is_it are_the are_you "
	    "are_there do_you does did was_the have_you has_the is_there "
	    "should_i "
	    "do_i shall_i should_we 几时 有多 어떻게 뭐 언제 왜 なに なぜ "
	    "どう いつ 好还是 对还是 要还是" },
	{ WORD_YES_NO, NULL,
	    "不好吗 不行吗 不对吗 吗 么 呢 没有 了没 了没有 か ですか" },
	{ WORD_MODAL, NULL,
	    "能 能不能 可以 可不可以 能否 可否 会不会介意 can_you "
	    "could_you would_you will_you can could would may_i can_i "
	    "would_you_mind" },
	{ WORD_POLITE, NULL,
	    "帮 帮忙 给我 给咱 麻烦 请 劳驾 好吗 好么 行吗 可以吗 好不好 "
	    "行不行 可以不 行么 成吗 好嘛 吧 我要 我想 我想要 我想听 "
	    "我要听 我需要 记得 please i_want i'd_like let's let_us "
	    "need_you i_need would_like kindly 해줘 주세요 ください お願い" },
	{ WORD_OBJECT_MARKER, NULL, "把 将" },
	{ WORD_CONDITION, NULL,
	    "的话 如果 要是 假如 假设 万一 倘若 若是 一旦 的时候 等我 等他 "
	    "等她 等到 等妈妈 等爸爸 等我数 等一会儿再说 每当 每次 只要 "
	    "要不是 除非 只有 谁要是 if unless whenever suppose "
	    "once until as_soon_as after_i before_i after_we before_we 下班后 "
	    "下班以后 回家后 回家以后 放学后 放学以后 睡着后 睡着以后 "
	    "才能 才可以 才会 才准 才行 到家后 到家以后 吃完饭 饭后 以后再说 "
	    "等一下再 等会再 等会儿再 "
	    "待会再 待会儿再 晚点再" },
	{ WORD_REPORTED, NULL,
	    "他说 她说 它说 他们说 妈说 妈妈说 爸说 爸爸说 老师说 都叫我 "
	    "叮嘱 嘱咐 吩咐 交代 教我 劝我 小说里 电影里 书里 歌里 故事里 "
	    "剧里 they_told asked_me asked_him sign_says 他叫我 她叫我 们叫我 "
	    "有人叫我 别人叫我 同学叫我 朋友叫我 "
	    "妈妈叫我 朋友说 同学说 老板说 爷爷说 奶奶说 人家说 有人说 "
	    "听说 据说 哥哥说 姐姐说 弟弟说 妹妹说 医生说 书上说 网上说 "
	    "新闻说 所谓 叫做 他问 她问 让我 要我 he_said she_said "
	    "they_said said_that told_me says mom_said dad_said 老婆说 "
	    "老公说 媳妇说 邻居说 客服说 经理说 叔叔说 阿姨说 大家说 "
	    "孩子说 儿子说 女儿说 同事说 师傅说 别人说 教练说 领导说 "
	    "专家说" },
	{ WORD_COMPLETED, NULL,
	    "早就 早已 去过 用过 看过 喂过 试过 玩过 做过 开过 关过 刚才 刚刚 "
	    "刚 "
	    "忘了 忘记 忘关 忘开 幸好 多亏 幸亏 感谢 谢谢你提醒 谢谢你帮 "
	    "谢谢你给 谢谢你把 谢谢你为 前天 forgot thank_you_for "
	    "thanks_for 上次 上回 已经 曾经 从前 以前 那天 当时 过了 一直 "
	    "经常 总是 earlier already yesterday used_to last_time "
	    "just_now was were" },
	{ WORD_OPINION, NULL,
	    "喜欢 讨厌 觉得 认为 以为 感觉 聊聊 说说 介绍 解释 发明 好奇 "
	    "知道 听过 见过 表示 意味着 代表 象征 容易 导致 有助于 有利于 "
	    "不利于 有害 伤眼 费电 浪费 对身体 对眼睛 有益 说错 按错 弄错 "
	    "搞错 走错 放错 听错 得很 得太 得真 得好 得挺 得非常 得不 会 "
	    "学会了 想起 梦见 梦到 害得 害我 想知道 研究 告诉我 讲讲 意思 "
	    "才 歌词 台词 口号 那句 这句 区别 原理 价格 多少钱 i_like i_love "
	    "i_hate i_think i_wish if_only tell_me "
	    "explain meaning invented wonder" },
	{ WORD_STATE, NULL,
	    "是 太 很 真 非常 好像 坏了 不亮 没电 没反应 有点 挺 着呢 外面 "
	    "室外 户外 零下 没了 没水 没油 没信号 没网 没用 没声音 没画面 "
	    "没动静 好多 好大 好小 好快 好慢 好亮 好暗 好吵 好红 好白 这么 "
	    "那么 多么 怪怪 奇怪 正在 还在 is are was looks seems broken "
	    "too very 疼 痒 断了 破了 脏了 丢了 裂了 堵了 漏水 卡住 卡了 "
	    "死机 故障 有问题 出问题 异响 该换 该洗 该修 打不开 关不上 "
	    "关不掉 开不了 用不了 连不上 不响 最高温 最低温 气温 体温" },
	{ WORD_PARTICLE, "open", "on" },
	{ WORD_PARTICLE, "close", "off" },
	{ WORD_META, NULL,
	    "是什么意思 什么意思 啥意思 怎么说 怎么翻译 怎么写 怎么读 "
	    "怎么拼 用英语 用英文 用日语 用韩语 的英文 的英语 的日语 "
	    "的意思 what_does mean in_english how_do_you_say translate" },
	{ WORD_THIRD_PERSON, NULL,
	    "他 她 它 他们 她们 它们 有人 有些人 he she it they them somebody "
	    "someone" },
	{ WORD_CORRECTION, NULL,
	    "啊不对 哦不对 噢不对 呃不对 哎不对 诶不对 不对不对 不对 不是不是 "
	    "错了 说错了 我说错了 哦不 噢不 啊不 "
	    "喔不 应该是 我是说 我的意思是 算了还是 啊不是 哦不是 no_wait "
	    "i_mean scratch_that actually_no" },
	{ WORD_DENIAL, NULL,
	    "不 不不 不不不 不是 抱歉 no no_no nope sorry oops" },
	{ WORD_RETRACTION, NULL,
	    "算了 算了吧 不用了 不要了 不必了 先不用了 不需要了 当我没说 "
	    "开玩笑的 开个玩笑 逗你的 逗你玩 没事了 取消吧 never_mind "
	    "nevermind forget_it forget_that just_kidding i'm_kidding kidding "
	    "cancel_that scrap_that no_need" },
	{ WORD_AFTER, NULL, "后 之后 以后 完后 完之后 完以后" },
	{ WORD_DAY, NULL,
	    "今天 明天 后天 昨天 现在 早上 上午 中午 下午 晚上 今晚 明早 "
	    "明晚 今早 周末 today tomorrow tonight now" },
	{ WORD_REMINDER, NULL,
	    "提醒我 提醒 叫我 喊我 叫醒我 叫醒 通知我 记一下 记下 记录 "
	    "备忘 待办 remind_me_to remind_me wake_me" },
	{ WORD_TITLE, NULL,
	    "播放 放一首 放首 播一首 来一首 来首 唱一首 唱 点播 搜索 "
	    "听一首 play sing search" },
	{ WORD_FILLER, NULL,
	    "你 我 咱 咱们 我们 你们 您 亲爱的 宝贝 那 这 该 应该 撒 噻 咯 "
	    "嘞 呗 喽 哟 哒 一点 一点儿 一些 点儿 那个 这个 嗯 呃 额 啊 哦 "
	    "噢 喔 哎 诶 欸 唉 喂 嘿 哈 呀 哇 吧 呢 嘛 啦 了 的 好 好的 "
	    "好吧 行 行吧 可以 对 对了 是的 谢谢 谢谢你 多谢 谢啦 谢了 "
	    "麻烦了 拜托 拜托了 辛苦了 就是 我说 你好 您好 小灵 小灵小灵 "
	    "好吗 好不好 可以吗 行吗 请 帮我 帮忙 麻烦 麻烦你 先 就 也 都 "
	    "还 还是 还有 首先 接下来 快点 快 赶紧 现在 马上 立刻 一下 给我 "
	    "我要 我想 吗 请问 ok okay please thanks thank_you hey hi um "
	    "uh oh ah well so now the a to you me just yes yeah 听见没有 "
	    "听到没有 听见没 听到没 听见了吗 听到了吗 知道没 明白没 懂了没 "
	    "知道吗 听见吗" },
};

struct vocabulary {
	struct automaton *words; /* hits are indices into vocabulary_groups */
};

static void
vocabulary_add_group(
    struct vocabulary *s, const struct word_group *g, uint32_t index)
{
	struct str rest = str_of(g->words), w;
	char text[WORD_MAX];
	size_t i;

	while (rest.p != NULL) {
		w = str_split(&rest, ' ');
		for (i = 0; i < w.n; i++)
			text[i] = w.p[i];
		for (i = 0; i < w.n; i++) {
			if (text[i] == '_')
				text[i] = ' ';
		}
		(void)hanzi_simplify(text, w.n);
		automaton_add(s->words, (struct str){ text, w.n }, index);
	}
}

struct vocabulary *
vocabulary_new(void)
{
	struct vocabulary *s = mem_zalloc(sizeof(*s));
	uint32_t i;

	s->words = automaton_new();
	for (i = 0; i < NELEM(vocabulary_groups); i++)
		vocabulary_add_group(s, &vocabulary_groups[i], i);
	automaton_build(s->words);
	return s;
}

void
vocabulary_free(struct vocabulary *s)
{
	if (s == NULL)
		return;
	automaton_free(s->words);
	free(s);
}

static bool
vocabulary_is_letter(char c)
{
	return c >= 'a' && c <= 'z';
}

bool
vocabulary_is_whole_word(struct str text, size_t start, size_t end)
{
	return !(start > 0 && vocabulary_is_letter(text.p[start]) &&
		   vocabulary_is_letter(text.p[start - 1])) &&
	    !(end < text.n && vocabulary_is_letter(text.p[end - 1]) &&
		vocabulary_is_letter(text.p[end]));
}

/* By start, the longest first. */
static int
vocabulary_hit_cmp(const void *pa, const void *pb)
{
	const struct automaton_hit *a = pa, *b = pb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->end > b->end ? -1 : a->end < b->end;
}

/* Of overlapping hits of one kind only the leftmost and longest. */
static size_t
vocabulary_leftmost_longest(
    struct automaton_hit *raw, size_t n, struct str text)
{
	size_t busy[WORD_KINDS] = { 0 };
	size_t i, n_left = 0;

	for (i = 0; i < n; i++) {
		size_t *until = &busy[vocabulary_groups[raw[i].word].kind];

		if (raw[i].start < *until ||
		    !vocabulary_is_whole_word(text, raw[i].start, raw[i].end))
			continue;
		*until = raw[i].end;
		raw[n_left++] = raw[i];
	}
	return n_left;
}

static bool
vocabulary_is_inside(
    const struct automaton_hit *a, const struct automaton_hit *whole)
{
	return a->start >= whole->start && a->end <= whole->end &&
	    (a->start != whole->start || a->end != whole->end);
}

bool
vocabulary_is_noun(struct str text, size_t end)
{
	static const struct str ends[] = { STR_INIT("器"), STR_INIT("机"),
		STR_INIT("仪"), STR_INIT("棒"), STR_INIT("键"), STR_INIT("员"),
		STR_INIT("师"), STR_INIT("量"), STR_INIT("率") };
	struct str after = { text.p + end, text.n - end };
	size_t i;

	if (str_starts(after, STR("机器")))
		return false;
	for (i = 0; i < NELEM(ends); i++) {
		if (str_starts(after, ends[i]))
			return true;
	}
	return false;
}

/* 不能 overlaps 能不能. */
static bool
vocabulary_is_negative(enum word_kind k)
{
	return k == WORD_PROHIBITION || k == WORD_NEGATION;
}

/* "turn the light off": whether the particle has a verb before it. */
static bool
vocabulary_has_verb(struct str text, const struct word_hit *hits, size_t n)
{
	static const struct str verbs[] = { STR_INIT("turn"),
		STR_INIT("switch"), STR_INIT("put"), STR_INIT("shut") };
	struct str word;
	size_t i;

	while (n-- > 0) {
		if (hits[n].kind == WORD_CONJUNCTION ||
		    hits[n].kind == WORD_FULL_STOP)
			return false;
		word = (struct str){ text.p + hits[n].start,
			hits[n].end - hits[n].start };
		for (i = 0; i < NELEM(verbs); i++) {
			if (str_eq(word, verbs[i]))
				return true;
		}
	}
	return false;
}

/* "台灯" is no word of 阳台灯. */
static bool
vocabulary_begins_in_room(
    const struct automaton_hit *h, const struct word_hit *hits, size_t n)
{
	while (n-- > 0) {
		if (hits[n].kind == WORD_ROOM)
			return h->start > hits[n].start &&
			    h->start < hits[n].end;
	}
	return false;
}

size_t
vocabulary_find(const struct vocabulary *s, struct str folded,
    struct word_hit *dst, size_t max)
{
	struct automaton_hit raw[RAW_MAX], whole = { 0 };
	size_t i, n, out = 0;

	n = automaton_scan(s->words, folded, raw, NELEM(raw));
	automaton_sort(raw, n, vocabulary_hit_cmp);
	n = vocabulary_leftmost_longest(raw, n, folded);
	for (i = 0; i < n && out < max; i++) {
		const struct word_group *g = &vocabulary_groups[raw[i].word];
		enum word_kind kind = g->kind;

		if (vocabulary_is_inside(&raw[i], &whole) ||
		    (vocabulary_is_negative(kind) &&
			raw[i].start > whole.start &&
			raw[i].start < whole.end) ||
		    (kind == WORD_VERB &&
			vocabulary_is_noun(folded, raw[i].end)) ||
		    (kind == WORD_PARTICLE &&
			!vocabulary_has_verb(folded, dst, out)) ||
		    (kind == WORD_DEVICE &&
			vocabulary_begins_in_room(&raw[i], dst, out)))
			continue;
		if (kind == WORD_PARTICLE)
			kind = WORD_ACTION;
		if (g->kind == WORD_OPAQUE)
			whole = raw[i];
		dst[out++] = (struct word_hit){ raw[i].start, raw[i].end, kind,
			g->value };
	}
	return out;
}

bool
vocabulary_list_has(struct str list, struct str word)
{
	struct str rest = list;
	ptrdiff_t at;
	bool begins;

	if (word.n == 0 || memchr(word.p, ' ', word.n) != NULL)
		return false;
	while ((at = str_find(rest, word)) >= 0) {
		begins = rest.p + at == list.p || rest.p[at - 1] == ' ';
		rest.p += (size_t)at + word.n;
		rest.n -= (size_t)at + word.n;
		if (begins && (rest.n == 0 || rest.p[0] == ' '))
			return true;
	}
	return false;
}

bool
vocabulary_begins_with(struct str text, struct str word)
{
	size_t i;

	if (word.n == 0 || word.n > text.n)
		return false;
	for (i = 0; i < word.n; i++) {
		if (text.p[i] != (word.p[i] == '_' ? ' ' : word.p[i]))
			return false;
	}
	return vocabulary_is_whole_word(text, 0, word.n);
}

bool
vocabulary_begins_with_subject(struct str text)
{
	struct str rest = STR(
	    "the a an my our his her their this that these those i we he she "
	    "they it there there's people everyone everybody nobody someone "
	    "kids children");
	struct str word;

	while (rest.p != NULL) {
		word = str_split(&rest, ' ');
		if (text.n > word.n && str_starts(text, word) &&
		    text.p[word.n] == ' ')
			return true;
	}
	return false;
}

size_t
vocabulary_prefix(struct str text, unsigned long kinds, const char **slot_value)
{
	size_t i, longest = 0;

	*slot_value = NULL;
	for (i = 0; i < NELEM(vocabulary_groups); i++) {
		const struct word_group *g = &vocabulary_groups[i];
		struct str rest = str_of(g->words), w;

		if ((kinds & 1UL << g->kind) == 0)
			continue;
		while (rest.p != NULL) {
			w = str_split(&rest, ' ');
			if (w.n > longest && vocabulary_begins_with(text, w)) {
				longest = w.n;
				*slot_value = g->value;
			}
		}
	}
	return longest;
}

struct str
vocabulary_core(struct str folded, struct arena *a)
{
	char *p = arena_alloc(a, folded.n + 1);
	const char *slot_value;
	size_t i, n = 0, next;

	for (i = 0; p != NULL && i < folded.n; i = next) {
		struct str rest = { folded.p + i, folded.n - i };

		next = i +
		    vocabulary_prefix(rest,
			1UL << WORD_FILLER | 1UL << WORD_DAY, &slot_value);
		if (next > i)
			continue;
		if (str_utf8_next(folded, &next) < 0)
			break;
		while (i < next)
			p[n++] = folded.p[i++];
	}
	return n > 0 ? (struct str){ p, n } : folded;
}

const char *
vocabulary_entity_type(enum word_kind kind)
{
	switch (kind) {
	case WORD_ACTION:
		return "action";
	case WORD_DEVICE:
		return "device";
	case WORD_ROOM:
		return "room";
	case WORD_COLOR:
		return "color";
	default:
		return NULL;
	}
}
