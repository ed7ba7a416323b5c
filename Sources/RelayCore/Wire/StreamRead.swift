/// What `Read` asks for.
package struct StreamRead: Hashable, Sendable {
    /// `Stream1.allNames` stands for all.
    package var names: [String]
    package var after: UInt64
    /// How many events at the most; 0: as many as a page holds.
    package var limit: UInt32
    /// Of this peer's last page; 0 before the first.
    package var token: UInt64

    package init(names: [String], after: UInt64, limit: UInt32, token: UInt64) {
        (self.names, self.after, self.limit, self.token) = (names, after, limit, token)
    }
}
