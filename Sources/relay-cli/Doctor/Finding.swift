import RelayCore
import RelayTool

/// What came of one of the doctor's checks.
struct Finding: Equatable, Sendable {
    enum Grade: String, CaseIterable, Sendable { case ok, warning, failed }
    /// A word.
    let check: String
    let grade: Grade
    let text: String
    /// What to do; empty where there is nothing to do.
    let remedy: String
    /// The service that it is about; nil: none.
    private(set) var service: String?

    func about(_ service: String) -> Finding {
        var copy = self
        copy.service = service
        return copy
    }

    init(_ check: String, _ grade: Grade, _ text: String, remedy: String = "") {
        (self.check, self.grade, self.text, self.remedy) = (check, grade, text, remedy)
    }

    /// Where the sentences begin: behind the grade and the check.
    private static let column = 22

    func append(_ style: OutputStyle, to output: inout ByteBuffer) {
        let color: TerminalCode? =
            switch grade {
            case .ok: nil
            case .warning: Color.gap
            case .failed: Color.failure
            }
        if style.hasColor, let color { output.append(color) }
        output.append(grade.rawValue)
        if style.hasColor, color != nil { output.append(Color.reset) }
        output.append(String(repeating: " ", count: 9 - grade.rawValue.count) + check)
        output.append(String(repeating: " ", count: max(1, Self.column - 9 - check.count)))
        PageText.append(PageText.safe(text), at: Self.column, from: Self.column, width: style.width, to: &output)
        output.append("\n")
        if remedy.isEmpty { return }
        output.append(String(repeating: " ", count: Self.column))
        PageText.append(
            "-> " + PageText.safe(remedy), at: Self.column + 3, from: Self.column, width: style.width, to: &output)
        output.append("\n")
    }
    func appendObject(to output: inout ByteBuffer) {
        output.append("{\"check\":\"\(check)\",\"grade\":\"\(grade.rawValue)\",")
        if let service {
            output.append("\"service\":")
            SafeText.append(quoted: service, to: &output)
            output.append(",")
        }
        output.append("\"text\":")
        SafeText.append(quoted: text, to: &output)
        if !remedy.isEmpty {
            output.append(",\"remedy\":")
            SafeText.append(quoted: remedy, to: &output)
        }
        output.append("}\n")
    }
}
