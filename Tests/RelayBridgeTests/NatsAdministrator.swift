import CNats
import NatsSupport
import RelayCore

@testable import RelayBridge

/// Does what an administrator may, by a connection of its own.
final class NatsAdministrator {
    private var connection: OpaquePointer?
    private var context: OpaquePointer?

    init(_ server: NatsServer) throws {
        try nats { natsConnection_ConnectTo(&connection, server.url) }
        try nats { natsConnection_JetStream(&context, connection, nil) }
    }
    deinit {
        jsCtx_Destroy(context)
        natsConnection_Destroy(connection)
    }
    func delete(_ stream: String) throws {
        try jetStream { js_DeleteStream(context, stream, nil, &$0) }
    }
    /// Somebody else's message.
    func publish(_ text: String, to subject: String) throws {
        try nats { natsConnection_PublishString(connection, subject, text) }
        try nats { natsConnection_Flush(connection) }
    }
}
