/// A network interface's line of /proc/net/dev.
struct LinkFigures: Equatable {
    /// What one direction has carried.
    struct Direction: Equatable {
        var bytes: UInt64
        var packets: UInt64
        var errors: UInt64
        var drops: UInt64
    }
    let name: String
    let received: Direction
    let sent: Direction

    /// Empty where there is none.
    static func parse(_ text: ArraySlice<UInt8>) throws(ProcFault) -> [LinkFigures] {
        var (scanner, found) = (ProcScanner(text), [LinkFigures]())
        guard scanner.line() != nil, scanner.line() != nil else { throw ProcFault(what: "its two lines of titles") }
        while var line = scanner.line() {
            let name = String(decoding: line.word(upTo: ":"), as: UTF8.self)
            var numbers: [UInt64] = []
            numbers.reserveCapacity(12)
            while numbers.count < 12, let number = line.number() { numbers.append(number) }
            // Of each direction bytes, packets, errors and drops, and four more.
            if name.isEmpty || numbers.count < 12 { throw ProcFault(what: "the numbers of '\(name)'") }
            found.append(
                LinkFigures(name: name, received: direction(numbers[0...]), sent: direction(numbers[8...])))
        }
        return found
    }
    private static func direction(_ numbers: ArraySlice<UInt64>) -> Direction {
        let first = numbers.startIndex
        return Direction(
            bytes: numbers[first], packets: numbers[first + 1], errors: numbers[first + 2], drops: numbers[first + 3])
    }
}
