"""Capitalized words that are not names, and exonyms across English, Portuguese and Spanish."""

from collections.abc import Mapping


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Capitalized by convention rather than as names; lower case, without accents.
COMMON_CAPITALS = word_set(
    """
    monday tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december christmas easter spring summer autumn winter
    mondays tuesdays wednesdays thursdays fridays saturdays sundays
    lunes martes miercoles jueves viernes sabado domingo segunda terca quarta quinta sexta janeiro fevereiro marco abril
    maio junho julho agosto setembro outubro novembro dezembro natal navidad
    english british american french german spanish portuguese italian russian chinese japanese dutch greek roman latin
    irish scottish welsh european african asian indian arab arabic jewish christian catholic protestant muslim islamic
    mexican brazilian canadian australian polish swedish norwegian danish turkish korean
    englishman englishmen frenchman frenchmen americans germans russians romans greeks jews christians
    first second third fourth fifth sixth seventh eighth ninth tenth primeira segunda terceira quarta quinta wall muro
    sr sra srta don dona senora senorita
    mr mrs ms miss dr sir madam lady lord lords king queen prince princess duke earl count president minister captain
    general colonel major sergeant professor doctor judge senator bishop pope saint father mother god heaven hell
    providence nature light darkness church state states government parliament congress senate court house council
    university school college company bank army navy police street road avenue square bridge river lake mountain sea
    ocean island north south east west northern southern eastern western internet ok tv dvd usa uk eu un nato ii iii iv
    mayor hill earth moon sun world universe web
    nosso nossa senhor senhora dom dona rei rainha estado estados governo igreja deus ceu terra lua sol mundo rua praca
    nuestro nuestra senor rey reina gobierno iglesia dios cielo tierra luna calle plaza us eua
    chapter part volume page book act scene our his her your their my the a an and of in on at to for this that it he
    she we they you i what when where who why how yes no not but or if then so as is was are were be been do did
    """
)

EXONYMS: Mapping[str, tuple[str, ...]] = {
    "england": ("inglaterra",),
    "germany": ("alemanha", "alemania"),
    "spain": ("espanha", "espana"),
    "scotland": ("escocia",),
    "wales": ("gales",),
    "ireland": ("irlanda",),
    "netherlands": ("holanda", "baixos", "bajos"),
    "sweden": ("suecia",),
    "switzerland": ("suica", "suiza"),
    "greece": ("grecia",),
    "hungary": ("hungria",),
    "turkey": ("turquia",),
    "egypt": ("egito", "egipto"),
    "morocco": ("marrocos", "marruecos"),
    "japan": ("japao", "japon"),
    "china": ("china",),
    "iceland": ("islandia",),
    "united": ("unidos", "unidas", "unido"),
    "kingdom": ("reino",),
    "york": ("iorque",),
    "london": ("londres",),
    "vienna": ("viena",),
    "geneva": ("genebra", "ginebra"),
    "cologne": ("colonia",),
    "munich": ("munique",),
    "florence": ("florenca", "florencia"),
    "prague": ("praga",),
    "warsaw": ("varsovia",),
    "copenhagen": ("copenhague",),
    "jerusalem": ("jerusalem", "jerusalen"),
    "cairo": ("cairo",),
    "beijing": ("pequim", "pekin"),
    "thames": ("tamisa", "tamesis"),
    "rhine": ("reno", "rin"),
    "danube": ("danubio",),
    "alps": ("alpes",),
    "jesus": ("jesus",),
    "elizabeth": ("isabel",),
    "isabel": ("elizabeth",),
    "john": ("joao", "juan"),
    "james": ("tiago", "santiago", "jaime"),
    "peter": ("pedro",),
    "paul": ("paulo", "pablo"),
    "matthew": ("mateus", "mateo"),
    "charles": ("carlos",),
    "william": ("guilherme", "guillermo"),
    "henry": ("henrique", "enrique"),
    "george": ("jorge",),
    "louis": ("luis",),
    "inglaterra": ("england",),
    "alemanha": ("germany", "alemania"),
    "alemania": ("germany", "alemanha"),
    "espanha": ("spain",),
    "espana": ("spain",),
    "londres": ("london",),
    "escocia": ("scotland",),
    "irlanda": ("ireland",),
    "suecia": ("sweden",),
    "suica": ("switzerland",),
    "suiza": ("switzerland",),
    "unidos": ("united", "states"),
    "eua": ("us", "usa", "united", "states"),
    "iorque": ("york",),
    "viena": ("vienna",),
    "marrocos": ("morocco",),
    "marruecos": ("morocco",),
    "egito": ("egypt",),
    "egipto": ("egypt",),
    "turquia": ("turkey",),
    "japao": ("japan",),
    "japon": ("japan",),
}

# First names among them, which stay as they are when they name people of today.
PERSON_NAMES: Mapping[str, tuple[str, ...]] = {
    name: EXONYMS[name]
    for name in word_set("elizabeth isabel john james peter paul matthew charles william henry george louis")
}
