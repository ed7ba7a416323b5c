public import RelayCore

extension SystemLog {
    /// The number that identifies a kind of message in systemd's log. The catalog `Packaging/catalog` explains the
    /// message.
    ///
    /// A number never changes its meaning. Make numbers for your own messages with `systemd-id128 new`.
    public struct MessageID: RawRepresentable, Hashable, Sendable {
        /// 32 hexadecimal digits, in lower case.
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The service owns its name, and serves.
        public static let ready = Self(rawValue: "63a3aca591cd4c1d87129bc6287055f6")
        /// The service has ended in good order.
        public static let finished = Self(rawValue: "2bc95ee3009a43d38006f8324fdd3ce7")

        /// The number of a kind of notice.
        ///
        /// It is nil for a kind that Relay itself does not report.
        ///
        /// - Parameter kind: the kind.
        public init?(_ kind: Notice.Kind) {
            guard let id = Self.kinds[kind.rawValue] else { return nil }
            self.init(rawValue: id)
        }
        /// By name: some are those of `RelayJournal`.
        static let kinds = [
            "LimitsExceeded": "2a48b0d59d804771bee9d4f187910091",
            "NotPermitted": "5161181b336444e08ea731347faecb41",
            "LookUpFailed": "5e2e56144f654ca8a87c093f370c87b9",
            "RingUnavailable": "1f3cc383253b446087fbc33b46df0ff8",
            "SignalsPaused": "ad5114abd6464f889aa8dcf7671ceaf3",
            "UnreadUnknown": "3cf9fb9580bd481ca4bfeabf2e34b8dc",
            "CommandFailed": "d1ef33d3b2a04dd2a46c4c8a584d12a5",
            "CommitDelayed": "b42f3df1a653431f9092611e0036b663",
            "HandlerFailed": "a1be96b85eda51929af817032d0ff427",
            "CursorFailed": "6d98da4530985cc09cbf0788a35299e4",
            "ConnectionFailed": "1675b1f8ca845030ae82f736a66b9ed7",
            "InterfaceMissing": "f5fa1d21d20e5b4c9c06dd29c668875b",
            "NotFollowed": "e654612a2b5c5b94adb43c935f37ed38",
            "SubscriberReleased": "02870f28976857b492594fa831f3b0c8",
            "ReadFailed": "6f0b3d5e9a1c4c7e8d2a47b1c95e3f60",
            "StorageFull": "ebf65dda295048c28e2b6d138cea5978",
            "StorageFailed": "7c1be5a04d7f4b0fb0a1d3d6a5f2c98e",
            "CheckpointFailed": "91dd434280e74334b621f0f289fbc470",
            "LogMissing": "0d6f2b1c9a5e4a57b7d1f0c3e8a4629b",
            "WalGrows": "a4b983a83cb94c85bdf81b488f5fbc8a",
            "JournalCheck": "d18c4d66500e4958876a25a55ffaad7d",
        ]
    }
}
