import RelayCore
import RelayTool

/// `call`: finds the command, types the values, prints the reply.
struct CallCommand {
    let options: CallOptions
    let style: OutputStyle
    let timeout: Duration
    let caller: any ServiceCaller

    /// What goes to stdout. Throws `CLIFailure`.
    func run() async throws -> [UInt8] {
        let catalogue = try await Discovery(caller: caller, timeout: timeout).catalogue()
        let target = try catalogue.command(options.command)
        let body = try ArgumentEncoder.body(of: target.command, from: options.arguments)
        let reply = try await caller.call(
            OutgoingCall(
                path: target.path, interface: target.interface, member: target.command.name,
                signature: target.command.arguments.map(\.shape.signature).joined(), body: body),
            timeout: timeout)
        return try text(of: reply, to: target.command)
    }

    private func text(of reply: IncomingReply, to command: IntrospectedCommand) throws(CLIFailure) -> [UInt8] {
        let announced = command.reply.map(\.shape.signature).joined()
        let printer =
            reply.signature == announced
            ? FieldsPrinter(command.reply, signature: announced, style: style)
            : FieldsPrinter(unknown: reply.signature, style: style)
        guard let printer else {
            throw CLIFailure(.software, "\(command.name): the reply's signature is none: '\(reply.signature)'")
        }
        var output = ByteBuffer()
        if style.json { output.append("{") }
        do throws(WireFault) {
            try printer.append(reply.body, to: &output)
        } catch {
            throw CLIFailure(.software, "\(command.name): the reply is malformed: \(error)")
        }
        if style.json { output.append("}") }
        if output.count > 0 { output.append("\n") }  // A command without a reply's fields says nothing.
        return output.bytes
    }
}
