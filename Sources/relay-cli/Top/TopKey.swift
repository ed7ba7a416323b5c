/// A key that `top` heeds.
enum TopKey: Hashable, CaseIterable, Sendable {
    case quit, help, otherPage, streams, subscribers
    case up, down, pageUp, pageDown, first, last
    case enter, back
    case nextOrder, previousOrder, reverse
}

/// Makes keys of the bytes that a terminal sends: a value that is given one after the other.
///
/// Escape alone is a key, and also how others begin: so it is one only when nothing follows it for a moment.
struct TopKeyDecoder: Hashable, Sendable {
    private enum State: Hashable {
        case ground
        case escape
        /// `ESC [` or `ESC O`, and the number that follows it.
        case sequence(Int)
    }
    private var state = State.ground

    /// Whether `timeout` is due when nothing comes.
    var isWaiting: Bool { state != .ground }

    /// nil: none, or none yet.
    mutating func take(_ byte: UInt8) -> TopKey? {
        switch state {
        case .ground:
            if byte == 0x1B { state = .escape }
            return Self.plain(byte)
        case .escape:
            switch byte {
            case UInt8(ascii: "["), UInt8(ascii: "O"): state = .sequence(0)
            case 0x1B: return .back
            // With Alt: a key of its own, which is none of ours.
            default: state = .ground
            }
            return nil
        case .sequence(let number):
            switch byte {
            case 0x30...0x39: state = .sequence(min(number * 10 + Int(byte - 0x30), 100))
            // Parameters and intermediates: held keys, which are none of ours, but have an end.
            case 0x20...0x2F, 0x3A...0x3F: state = .sequence(100)
            case 0x1B: state = .escape
            default:
                state = .ground
                return Self.final(byte, number)
            }
            return nil
        }
    }
    /// Nothing has come for a moment.
    mutating func timeout() -> TopKey? {
        defer { state = .ground }
        return state == .escape ? .back : nil
    }

    private static func plain(_ byte: UInt8) -> TopKey? {
        switch byte {
        case UInt8(ascii: "q"), UInt8(ascii: "Q"): .quit
        case UInt8(ascii: "?"), UInt8(ascii: "h"): .help
        case 0x09: .otherPage
        case UInt8(ascii: "1"): .streams
        case UInt8(ascii: "2"): .subscribers
        case UInt8(ascii: "k"): .up
        case UInt8(ascii: "j"): .down
        case 0x20: .pageDown
        case UInt8(ascii: "b"): .pageUp
        case UInt8(ascii: "g"): .first
        case UInt8(ascii: "G"): .last
        case 0x0A, 0x0D: .enter
        case 0x08, 0x7F: .back
        case UInt8(ascii: "s"): .nextOrder
        case UInt8(ascii: "S"): .previousOrder
        case UInt8(ascii: "r"): .reverse
        default: nil
        }
    }
    private static func final(_ byte: UInt8, _ number: Int) -> TopKey? {
        switch (byte, number) {
        case (UInt8(ascii: "A"), 0): .up
        case (UInt8(ascii: "B"), 0): .down
        case (UInt8(ascii: "C"), 0): .enter
        case (UInt8(ascii: "D"), 0): .back
        case (UInt8(ascii: "H"), 0), (UInt8(ascii: "~"), 1), (UInt8(ascii: "~"), 7): .first
        case (UInt8(ascii: "F"), 0), (UInt8(ascii: "~"), 4), (UInt8(ascii: "~"), 8): .last
        case (UInt8(ascii: "~"), 5): .pageUp
        case (UInt8(ascii: "~"), 6): .pageDown
        default: nil
        }
    }
}
