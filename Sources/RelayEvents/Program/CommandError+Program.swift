/// A refusal ends a program with 1, as it ends `relay-cli`; everything else as its ``RelayError`` does.
extension CommandError: ProgramFailure {
    public var exitCode: Int32 {
        switch self {
        case .refused: 1
        case .relay(let error): error.exitCode
        }
    }
    public var exitMessage: String {
        switch self {
        case .refused(let failure): failure.message
        case .relay(let error): error.exitMessage
        }
    }
}
