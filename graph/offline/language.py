"""Which language a text is in, as far as stop words tell; and the stemmer that goes with it."""

import re
from collections.abc import Callable
from functools import lru_cache

import snowballstemmer

STOP_WORDS: dict[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in {
        "english": """a about above according across after again against all almost along already also although always
        am among an and another any anyone anything are around as at away be because been before being below between
        both but by can could current currently did do does doing done down during each either else etc even ever
        every few find first for from further generally get give given gives go goes got had has have having he her
        here him his how however i if in indeed instead into is it its itself just kind last latest least less let
        like made make makes many may me might mine more most much must my near need needs neither new no nor not now
        of off often on once one only or other others otherwise our out over own per perhaps please rather really
        said same say says see seem several shall she should since so some something such tell than that the their
        them then there therefore these they thing things this those through thus to together too toward two under
        until up upon us use used useful using usually various very via was way we well were what when where whether
        which while who whom whose why will with within without would yes yet you your""",
        "german": """aber alle als also am an auch auf aus bei beim bis da damit dann das dass dem den der des die dies
        diese diesem diesen dieser doch dort du durch ein eine einem einen einer eines er es für gibt hat haben hier
        ich ihr im in ist ja jede jeder kann kein keine können mit muss müssen nach nicht noch nur ob oder ohne sehr
        sein mindestens höchstens sich sie sind so soll sollen sollte sollten über um und uns unter vom von vor war
        warum was welche welcher welches wenn wer werden wie wieder wird wo wurde zu zum zur zwischen""",
        "french": """à afin ainsi alors après au aussi autre aux avant avec car ce cela ces cet cette chaque comme
        comment dans de des depuis deux doit doivent donc du elle elles en entre est et être eux fait faut il ils je
        la le les leur leurs lors lui mais même moins ne non nos notre nous on ont ou où par pas peut plus pour
        pourquoi quand que quel quelle quelles quels qui sa sans se ses si son sont sous sur tous tout très un une
        vers vos votre vous""",
        "spanish": """a al algo ante antes como con contra cual cuales cuando cuánto cuántos cómo de debe deben del
        desde donde dos el él ella ellas ellos en entre era es esa ese eso esta está estas este esto estos fue ha han
        hasta hay la las le les lo los más me mi muy no nos o otra otro para pero por porque puede pueden que qué
        quien se ser si sí sin sobre son su sus también te tiene todo tu un una uno unos y ya""",
        "italian": """a ad agli ai al alla alle anche che chi ci come con cosa da dagli dai dal dalla de degli dei del
        della delle dello deve devono di dove e è ed essere gli ha hanno i il in io la le lei lo loro ma nei nel nella
        non o per perché più può quale quali quando quanti quanto quella quello questa questo se senza si sono su sua
        sul sulla suo tra un una uno""",
        "portuguese": """a ao aos as até como com da das de deve devem do dos e é ela ele eles em entre essa esse esta
        este eu foi há isso isto já lhe mais mas mesmo muito na não nas no nos o onde os ou para pela pelo pode podem
        por porque quais qual quando quanto quantos que quem se sem ser seu sua são também tem têm um uma você""",
        "dutch": """aan al alle als bij dan dat de den der deze die dit door een en er geen had hebben heeft het hij
        hoe hoeveel hun ik in is ja kan kunnen maar met moet moeten naar niet nog nu of om ook onder op over te tegen
        ten ter tot uit van veel voor waar wanneer waarom was wat we wel welke werd wie wij worden wordt zich zij zijn
        zo zonder zou""",
        "russian": """а без более был была были было быть в вам вас все всего вы где да для до его ее если есть еще же
        за здесь и из или им их к как какие какой когда кто ли мы на над надо не нет ни но о об однако он она они оно
        от по под при с со так также там то того тоже только у уже что чтобы эта эти это этого этот я""",
    }.items()
}
LATIN_WORD = re.compile(r"[^\W\d_]+")


def language_of(text: str) -> str:
    """The language whose stop words the text holds most of; ``english`` when none stands out."""
    words = [word.lower() for word in LATIN_WORD.findall(text)]
    counts = {name: sum(word in stop for word in words) for name, stop in STOP_WORDS.items()}
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] > counts["english"] else "english"


@lru_cache(maxsize=16)
def stemmer_of(language: str) -> Callable[[str], str]:
    """A remembered stem function of one language; English uses Porter's rules, as the search index does."""
    stemmer = snowballstemmer.stemmer("porter" if language == "english" else language)

    @lru_cache(maxsize=50_000)
    def stem(word: str) -> str:
        return str(stemmer.stemWord(word))

    return stem
