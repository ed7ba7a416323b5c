/// How many calls of one peer may wait for their turn in a service, and how many bytes of arguments they may have.
///
/// Both sides know it: the service refuses what is beyond that, so a relay keeps it back.
enum CallBounds {
    static let calls = 64
    static let bytes = 4 << 20
}
