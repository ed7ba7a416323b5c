import RelayCore

/// The one door through which a program's bytes go to a terminal.
///
/// Lines for people make the texts of others visible where they are composed (`SafeText`, `MessageText`), also for a pipe: what
/// reads it may be a pager. JSON escapes them. Some data goes to a pipe as it is: CSV, and what a program is asked to copy. The
/// door is what a terminal is given in the end, whatever composed it: control characters and those that turn a text
/// around are shown as `\uXXXX`. Only blanks, tabs and ends of lines pass.
///
/// What a program does to its terminal itself, such as colours, it composes with bytes that no UTF-8 has, and so no text
/// of anybody: the door alone makes ESC and CR of them.
package enum TerminalDoor {
    /// Stands for ESC.
    package static let escape: UInt8 = 0xFF
    /// Stands for CR.
    package static let carriageReturn: UInt8 = 0xFE

    /// A result of one line, also for a pipe.
    package static func line(_ text: String) -> String { text.unicodeScalars.plainlyVisible }

    /// - Parameter bytes: whole characters.
    package static func visible(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var rest = bytes[...]
        while let byte = rest.first {
            switch byte {
            case escape: result.append(0x1B)
            case carriageReturn: result.append(0x0D)
            case 0x20..<0x7F, 0x09, 0x0A: result.append(byte)
            // The ends of CSV's lines.
            case 0x0D where rest.dropFirst().first == 0x0A: result.append(byte)
            case 0x80..<carriageReturn:
                let run = rest.prefix { (0x80..<carriageReturn).contains($0) }
                result.append(contentsOf: String(decoding: run, as: UTF8.self).unicodeScalars.plainlyVisible.utf8)
                rest = rest[run.endIndex...]
                continue
            default: result.append(contentsOf: String(Unicode.Scalar(byte).escape).utf8)
            }
            rest = rest.dropFirst()
        }
        return result
    }
}
