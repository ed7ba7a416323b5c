import RelayWire

/// A cursor file's content, as a value.
///
///     relay-cursor 3
///     service org.eventrelay.Service1
///     org.eventrelay.Relocation1 BoxProvisioned,BoxRemoved 9310467250214 118 8816203340:1,9310467250214:101
///     checksum 8a6f3f1d20c94b57
///
/// A line for each interface: its name, the events (`*`: all), the epoch, the sequence that is accounted for, and a
/// sample of the runs that led there, as epoch and first sequence (`-`: unknown). The last line has the checksum of the
/// lines before it: a digit that is not the one that was written would skip events, or bring them again.
package struct CursorText: Hashable, Sendable {
    package var service: String
    package var places: [String: CursorPlace] = [:]

    private static let firstLine = "relay-cursor 3"
    private static let checksum = "checksum "
    private static let unknown = "-"
    /// More than any file of ours can have.
    static let maximumSize = 1 << 20

    package init(service: String) { self.service = service }

    package var text: String {
        var text = "\(Self.firstLine)\nservice \(service)\n"
        for (interface, place) in places.sorted(by: { $0.key < $1.key }) {
            let names = place.names.map { $0.sorted().joined(separator: ",") } ?? Stream1.allNames
            let line = "\(interface) \(names) \(place.epoch) \(place.sequence)"
            text += "\(line) \(Self.text(place.runs))\n"
        }
        return text + Self.lastLine(of: text)
    }
    private static func lastLine(of text: String) -> String {
        var hash = FNV()
        hash.combine(text)
        let digits = String(hash.value, radix: 16)
        return checksum + String(repeating: "0", count: 16 - digits.utf8.count) + digits + "\n"
    }

    /// Nil for what is not, byte by byte, as this version of the program writes it.
    package init?(parsing text: String) {
        guard let whole = Self(lines: text), whole.text.utf8.elementsEqual(text.utf8) else { return nil }
        self = whole
    }
    private init?(lines text: String) {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        // Every line ends; a file that was cut short has a last one that does not.
        guard lines.popLast()?.isEmpty == true, lines.popLast()?.hasPrefix(Self.checksum) == true, lines.count >= 2,
            lines[0] == Self.firstLine
        else { return nil }
        let header = lines[1].split(separator: " ", omittingEmptySubsequences: false)
        guard header.count == 2, header[0] == "service", BusNames.isBusName(String(header[1])) else { return nil }
        service = String(header[1])
        for line in lines.dropFirst(2) {
            let parts = line.split(separator: " ", omittingEmptySubsequences: false)
            guard parts.count == 5, BusNames.isInterface(String(parts[0])),
                let names = Self.names(parts[1]), let epoch = UInt64(parts[2]), let sequence = UInt64(parts[3]),
                let runs = Self.runs(parts[4])
            else { return nil }
            let place = CursorPlace(names: names.set, epoch: epoch, sequence: sequence, runs: runs)
            if places.updateValue(place, forKey: String(parts[0])) != nil { return nil }
        }
    }
    private static func text(_ runs: [StreamRun]) -> String {
        runs.isEmpty ? unknown : runs.map { "\($0.epoch):\($0.first)" }.joined(separator: ",")
    }
    private static func runs(_ text: Substring) -> [StreamRun]? {
        if text == unknown { return [] }
        var runs: [StreamRun] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let numbers = part.split(separator: ":", omittingEmptySubsequences: false)
            guard numbers.count == 2, let epoch = UInt64(numbers[0]), let first = UInt64(numbers[1]) else { return nil }
            runs.append(StreamRun(epoch: epoch, first: first))
        }
        return runs.count <= StreamRun.most ? runs : nil
    }
    private static func names(_ text: Substring) -> (set: Set<String>?, Void)? {
        if text == Stream1.allNames { return (nil, ()) }
        let names = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        return names.allSatisfy(BusNames.isMember) ? (Set(names), ()) : nil
    }
}

extension CursorText {
    /// Whether a subscriber can have this name.
    package static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
