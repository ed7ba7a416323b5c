/// A command whose refusals are sent with a message that names the refused values, in place of `Failure.message`.
///
/// The message goes to the caller alone, who gave the values.
package protocol ExplainsRefusals: Command {
    /// What was wrong, with which value, and what to do.
    func explanation(of failure: Failure) -> String
}

extension Command {
    /// The text that a caller gets with a refusal.
    package func message(of failure: Failure) -> String {
        func explain<Explaining: ExplainsRefusals>(_ command: Explaining) -> String? {
            (failure as? Explaining.Failure).map { command.explanation(of: $0) }
        }
        return (self as? any ExplainsRefusals).flatMap { explain($0) } ?? failure.message
    }
}
