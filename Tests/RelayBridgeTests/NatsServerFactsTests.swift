import NatsSupport
import TestTraits
import Testing

@testable import RelayBridge

@Suite("What a server's acknowledgement means", .tags(.g6)) struct NatsServerFactsTests {
    @Test("a greeting has the version, an answer also how it syncs") func texts() {
        let greeting = NatsServerFacts(version: "version", in: #"INFO {"server_id":"X","version":"2.9.10","proto":1}"#)
        #expect(greeting.version == "2.9.10" && greeting.syncsAlways == nil && greeting.syncInterval == nil)
        #expect(greeting.guarantee.hasPrefix("nats-server 2.9.10 cannot sync each message"))
        let always = NatsServerFacts(
            version: "ver",
            in:
                #"{"server":{"name":"a","ver":"2.14.0"},"data":{"config":{"sync_interval":120000000000,"sync_always":true}}}"#
        )
        #expect(always.guarantee == "nats-server 2.14.0 syncs each message to its disk before it acknowledges it")
        let lazy = NatsServerFacts(version: "ver", in: #"{"ver":"2.14.0","sync_interval":10000000000}"#)
        #expect(lazy.guarantee.hasPrefix("nats-server 2.14.0 syncs every 10"))
        for text in ["", "INFO {", #"{"version":"#, #"{"version":"x.y"}"#] {
            #expect(NatsServerFacts(version: "version", in: text).guarantee.contains("does not tell this account"))
        }
        #expect(
            NatsServerFacts(version: "version", in: #"{"version":"2.14.0"}"#).guarantee.contains("2.14.0 does not tell")
        )
    }
    @Test("real servers are asked, as far as they let an account ask", .heavy) func servers() async throws {
        func guarantee(_ server: NatsServer, _ user: String = "") async throws -> String {
            let url = user.isEmpty ? server.url : server.url.replacing("//", with: "//\(user):\(user)@")
            return try await NatsCarrier(NatsSettings(servers: [url])).guarantee()
        }
        let old = try await guarantee(NatsServer(.debian))
        #expect(old.hasPrefix("nats-server 2.9.") && old.contains("cannot sync each message"), "\(old)")
        let silent = try await guarantee(NatsServer(.recent, syncing: true))
        #expect(silent.hasPrefix("nats-server 2.14.") && silent.contains("does not tell this account"), "\(silent)")
        let accounts = """
            accounts {
              SYS { users: [{ user: admin, password: admin }], exports: [{ service: "$SYS.REQ.SERVER.PING.JSZ" }] }
              HOSTS {
                jetstream: enabled, users: [{ user: kitchen, password: kitchen }]
                imports: [{ service: { account: SYS, subject: "$SYS.REQ.SERVER.PING.JSZ" } }]
              }
            }
            system_account: SYS
            """
        let always = try await guarantee(NatsServer(.recent, syncing: true, accounts), "kitchen")
        #expect(always.contains("syncs each message to its disk before it acknowledges it"), "\(always)")
        let lazy = try await guarantee(NatsServer(.recent, accounts), "kitchen")
        #expect(lazy.contains("syncs every 120"), "\(lazy)")
    }
}
