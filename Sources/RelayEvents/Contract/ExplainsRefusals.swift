/// A command whose refusals are sent with a message that names the refused values, in place of `Refusal.message`.
///
/// The message goes to the caller alone, who gave the values.
package protocol ExplainsRefusals: Command {
    /// What was wrong, with which value, and what to do.
    func explanation(of refusal: Refusal) -> String
}

extension Command {
    /// The text that a caller gets with a refusal.
    package func message(of refusal: Refusal) -> String {
        func explain<Explaining: ExplainsRefusals>(_ command: Explaining) -> String? {
            (refusal as? Explaining.Refusal).map { command.explanation(of: $0) }
        }
        return (self as? any ExplainsRefusals).flatMap { explain($0) } ?? refusal.message
    }
}
