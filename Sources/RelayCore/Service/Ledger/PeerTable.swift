/// What is kept of each peer, by its unique name, as a value.
///
/// A call asks for its peer again and again: the one that was found last is compared, which is ten times as fast as a
/// look-up by hash. Each value has a place, by which it is changed where it lies, and which is another's when it has gone.
struct PeerTable<Value> {
    private var places: [String: Int] = [:]
    private var values: [Value?] = []
    private var free: [Int] = []
    private var last: (name: String, place: Int) = ("", -1)

    var count: Int { places.count }
    var isEmpty: Bool { places.isEmpty }
    /// In no order.
    var entries: some Sequence<(name: String, value: Value)> {
        places.lazy.map { (name: $0.key, value: self[$0.value]) }
    }

    @inline(__always) func place(of name: String) -> Int? {
        last.place >= 0 && last.name == name ? last.place : places[name]
    }
    /// The place of a value that is there or is made, to be asked for again.
    @inline(__always) mutating func place(of name: String, orMake value: @autoclosure () -> Value) -> Int {
        if last.place >= 0 && last.name == name { return last.place }
        let place = places[name] ?? insert(value(), name)
        last = (name, place)
        return place
    }
    @inline(never) private mutating func insert(_ value: Value, _ name: String) -> Int {
        let place: Int
        if let taken = free.popLast() {
            values[taken] = value
            place = taken
        } else {
            values.append(value)
            place = values.count - 1
        }
        places[name] = place
        return place
    }
    mutating func remove(_ name: String) {
        guard let place = places.removeValue(forKey: name) else { return }
        if last.place == place { last = ("", -1) }
        values[place] = nil
        if places.isEmpty { (values, free) = ([], []) } else { free.append(place) }
    }
    mutating func removeAll() { self = Self() }

    /// Of a place that has a value.
    subscript(place: Int) -> Value {
        @inline(__always) get { values[place]! }  // `place(of:)` has found it there.
        @inline(__always) _modify { yield &values[place]! }  // As above.
    }
    subscript(name: String) -> Value? { place(of: name).map { self[$0] } }
}

extension PeerTable: Sendable where Value: Sendable {}
