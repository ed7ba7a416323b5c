@main struct RelayCLI { static func main() {} }
