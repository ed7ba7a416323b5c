/// libdbus's DBUS_TYPE_… macros, which are casts and so are not imported.
enum LibDBusType {
    static let byte = code("y"), boolean = code("b"), int16 = code("n"), uint16 = code("q"), int32 = code("i")
    static let uint32 = code("u"), int64 = code("x"), uint64 = code("t"), double = code("d"), string = code("s")
    static let objectPath = code("o"), signature = code("g"), variant = code("v"), array = code("a")
    static let structure = code("r"), dictionaryEntry = code("e")

    private static func code(_ character: Unicode.Scalar) -> Int32 { Int32(character.value) }
}
