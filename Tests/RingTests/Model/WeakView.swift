/// How far a thread, or a message, has seen: for each place the number of the newest store that it knows of.
///
/// Four bits a place: sixteen places, fifteen stores each.
struct WeakView: Hashable {
    private(set) var bits: UInt64 = 0

    subscript(place: Int) -> Int {
        get { Int(bits >> UInt64(4 * place)) & 15 }
        set {
            precondition(newValue < 16, "a model that stores so often needs wider views")
            bits = bits & ~(15 << UInt64(4 * place)) | UInt64(newValue) << UInt64(4 * place)
        }
    }
    func joined(_ other: Self) -> Self {
        var result = self
        for place in 0..<16 where other[place] > result[place] { result[place] = other[place] }
        return result
    }
    /// The oldest stores are forgotten: nobody can read them any more.
    mutating func drop(_ count: Int, at place: Int) { self[place] = max(0, self[place] - count) }
    /// Without what the other one holds already.
    func without(_ other: Self) -> Self {
        var result = self
        for place in 0..<16 where result[place] <= other[place] { result[place] = 0 }
        return result
    }
    /// A store was put in before those with this number and above.
    mutating func makeRoom(at place: Int, before number: Int) {
        if self[place] >= number { self[place] += 1 }
    }
}
