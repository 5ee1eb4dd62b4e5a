"""The sentences that the proof speaks in every language."""

# ruff: noqa: RUF001 (full-width marks look like letters)

from collections.abc import Sequence

Spellings = tuple[str, ...]  # a sentence, and other spellings of the same words that a recognizer may choose

# Some have numbers, times, money and abbreviations.
SENTENCES: dict[str, Sequence[Spellings]] = {
    "en": [
        ("Dr. Reed paid $12 for the map.", "Doctor Reed paid twelve dollars for the map."),
        (
            "The museum opens at 10:30 and closes in the evening.",
            "The museum opens at ten thirty and closes in the evening.",
        ),
        ("The people in the village had never seen such a storm.",),
        ("About 40% of the houses lost their roofs.", "About forty percent of the houses lost their roofs."),
        ("The children waited for hours at the old railway station.",),
    ],
    "pt": [
        (
            "O trem parte às 10:30 da estação central.",
            "O trem parte às 10 e 30 da estação central.",
            "O trem parte às dez e trinta da estação central.",
            "O trem parte às dez e meia da estação central.",
        ),
        ("Comprei 3 livros sobre a história da cidade.", "Comprei três livros sobre a história da cidade."),
        ("A professora chegou cedo e abriu todas as janelas.",),
        ("O mercado fica perto da igreja, do outro lado da praça.",),
        ("Amanhã vamos visitar os nossos avós no interior.",),
        ("A biblioteca da escola recebe novos alunos toda semana.",),
        ("Meu irmão trabalha numa padaria perto do rio.",),
        ("As crianças brincam no parque depois da aula.",),
        ("O médico pediu dois exames antes da viagem.", "O médico pediu 2 exames antes da viagem."),
        ("Ela comprou flores amarelas para a festa de aniversário.",),
    ],
    "es": [
        ("La biblioteca abre temprano todos los sábados.",),
        ("El 20% de los árboles perdió sus hojas.", "El veinte por ciento de los árboles perdió sus hojas."),
        ("Mi hermana vive en una casa cerca del río.",),
        ("Mañana iremos al mercado para comprar pan y fruta.",),
    ],
    "fr": [
        ("Le train pour Paris part dans 10 minutes.", "Le train pour Paris part dans dix minutes."),
        ("Mon frère travaille dans une boulangerie près de la gare.",),
        ("Le directeur ouvre la fenêtre du bureau chaque matin.",),
        ("Nous avons visité le musée avec notre professeur.",),
        ("Ma voisine cultive des tomates sur son balcon.",),
        ("Il a commencé à pleuvoir juste avant le match.",),
        ("Nous cherchons un appartement avec deux chambres.", "Nous cherchons un appartement avec 2 chambres."),
        ("Le dimanche, mes parents préparent un grand repas pour toute la famille.",),
        ("Je ne trouve plus les clés de la voiture.",),
        ("Cette rue est fermée à cause des travaux.",),
    ],
    "it": [
        ("La biblioteca apre presto ogni sabato mattina.",),
        ("Mia sorella abita in una piccola casa vicino al fiume.",),
        ("Domani andremo al mercato per comprare il pane e la frutta.",),
        ("I bambini giocano nel giardino dopo la scuola.",),
        ("Il medico ha chiesto due esami prima del viaggio.", "Il medico ha chiesto 2 esami prima del viaggio."),
        ("Il treno per Milano parte dal binario 7.", "Il treno per Milano parte dal binario sette."),
        ("Ogni sera mio padre legge il giornale sul divano.",),
        ("Abbiamo prenotato un tavolo per quattro persone.", "Abbiamo prenotato un tavolo per 4 persone."),
        ("Nel pomeriggio ha smesso di piovere e siamo usciti a camminare.",),
        ("La nuova insegnante parla molto lentamente.",),
        ("Questo vino viene da un paese vicino a Firenze.",),
        ("Non riesco a trovare le chiavi della macchina.",),
        ("Il concerto comincia tra mezz'ora, quindi dobbiamo sbrigarci.",),
    ],
    "de": [
        ("Meine Schwester wohnt in einem kleinen Haus am Fluss.",),
        (
            "Der Zug nach Hamburg hat heute 20 Minuten Verspätung.",
            "Der Zug nach Hamburg hat heute zwanzig Minuten Verspätung.",
        ),
        ("Wir haben gestern auf dem Markt frisches Brot und Käse gekauft.",),
        ("Die Kinder spielen nach der Schule im Garten.",),
        ("Das Wetter wird morgen schön, aber am Abend kommt Regen.",),
        ("Die Karte kostet 15 Euro.", "Die Karte kostet fünfzehn Euro.", "Die Karte kostet 15€."),
    ],
    "ja": [
        ("駅の近くに新しいパン屋ができました。",),
        ("子どもたちは公園で元気に遊んでいます。",),
        ("会議は午後3時に始まります。",),
        ("この映画はとても面白かったので、もう一度見たいです。",),
        ("明日は朝から雨が降るそうです。",),
    ],
    "zh": [
        ("我妹妹在北京大学学习历史。",),
        ("今天天气很好，我们去公园散步。",),
        ("请把窗户打开，房间里太热了。",),
        ("昨天晚上我们看了一部很有意思的电影。",),
        ("这本书一共有300页，我用了5天看完。",),
    ],
}
