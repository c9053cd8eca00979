//! Table: four bytes that ordinary text has often, and that anchors can be told by others than.

/// In order, counted in the pages of a thousand packages.
pub(super) const FREQUENT: &[&[u8; 4]] = &[
    b" key", b" log", b" new", b" now", b" use", b".com", b".con", b".git", b".org", b"able", b"abou",
    b"acce", b"act ", b"addr", b"alle", b"alli", b"alls", b"ally", b"alwa", b"anda", b"appe", b"assi",
    b"ativ", b"auth", b"auto", b"avoi", b"b.co", b"back", b"base", b"bash", b"bein", b"bles", b"buff",
    b"call", b"cces", b"cial", b"cing", b"comm", b"comp", b"conc", b"cons", b"cont", b"copi", b"crea",
    b"crip", b"ctio", b"ctiv", b"ctly", b"curi", b"curr", b"denc", b"ding", b"dire", b"disc", b"down",
    b"each", b"ecti", b"ecur", b"ecut", b"eing", b"emov", b"equi", b"er**", b"ermi", b"evel", b"ever",
    b"exec", b"expo", b"fals", b"faul", b"fied", b"fold", b"foll", b"form", b"from", b"func", b"gnor",
    b"grou", b"guid", b"hang", b"hare", b"hash", b"hell", b"hing", b"hook", b"hout", b"hrea", b"hub.",
    b"ical", b"ided", b"igno", b"ile.", b"imit", b"impl", b"impo", b"inal", b"info", b"ing.", b"inst",
    b"ions", b"irec", b"isab", b"itho", b"just", b"king", b"know", b"lder", b"leve", b"lica", b"limi",
    b"ling", b"lled", b"llin", b"llow", b"load", b"long", b"lowe", b"lowi", b"lway", b"m**:", b"main",
    b"mand", b"mber", b"ment", b"mina", b"ming", b"mman", b"mode", b"mory", b"move", b"mpli", b"mpor",
    b"nabl", b"ndin", b"need", b"nfor", b"ning", b"nore", b"npm ", b"nsta", b"ntly", b"numb", b"oken",
    b"olde", b"ollo", b"omma", b"ompt", b"only", b"onse", b"onso", b"onte", b"oper", b"ound", b"oved",
    b"over", b"owin", b"plic", b"pons", b"port", b"posi", b"post", b"prec", b"prin", b"proc", b"proj",
    b"prom", b"prov", b"publ", b"pyth", b"ques", b"quir", b"r**:", b"read", b"rect", b"remo", b"repl",
    b"requ", b"rict", b"ring", b"rity", b"rmin", b"romp", b"roup", b"ruct", b"rver", b"s th", b"s.md",
    b"sabl", b"secu", b"self", b"serv", b"shar", b"show", b"side", b"sion", b"sock", b"spon", b"ssio",
    b"stal", b"stor", b"stru", b"supp", b"syst", b"t us", b"t**:", b"tall", b"term", b"them", b"this",
    b"thou", b"thub", b"ting", b"tive", b"tory", b"trac", b"tric", b"truc", b"turn", b"ub.c", b"ubli",
    b"ucti", b"uest", b"uire", b"umbe", b"uppo", b"urit", b"urre", b"user", b"utho", b"util", b"vers",
    b"very", b"view", b"ving", b"void", b"ways", b"what", b"will", b"wing", b"with", b"word", b"work",
    b"xecu", b"xpor", b"ying", b"you ", b"your",
];
