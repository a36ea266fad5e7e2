//! What people choose when they do not want to choose: the passwords that are tried first.

/// In lower case. Those of fewer than eight characters are refused anyway.
const LIST: &[&str] = &[
    "12345678", "123456789", "1234567890", "0123456789", "11111111", "111111111", "1111111111",
    "00000000", "000000000", "0000000000", "22222222", "33333333", "55555555", "66666666",
    "77777777", "88888888", "99999999", "12341234", "12344321", "11223344", "1122334455",
    "123123123", "123321123", "123456123", "12345679", "87654321", "987654321", "9876543210",
    "0987654321", "147258369", "159357456", "123454321", "112233445566", "121212121212",
    "qwertyui", "qwertyuiop", "qwerty12", "qwerty123", "qwerty1234", "qwerty12345", "qwertzuiop",
    "qwertz123", "azertyuiop", "azerty123", "1q2w3e4r", "1q2w3e4r5t", "1q2w3e4r5t6y", "q1w2e3r4",
    "1qaz2wsx", "1qaz2wsx3edc", "zaq12wsx", "qazwsxedc", "zxcvbnm1", "zxcvbnm123", "asdfghjk",
    "asdfghjkl", "asdfasdf", "asdf1234", "qweasdzxc", "qweqweqwe", "abcd1234", "abc12345",
    "abcdefgh", "abcdefghi", "abcdefghij", "a1b2c3d4", "aa123456", "a1234567", "a12345678",
    "a123456789", "aaaaaaaa", "abc123456", "abcabcabc",
    "password", "password1", "password12", "password123", "password1234", "password!",
    "password1!", "password@123", "password123!", "passw0rd", "passw0rd1", "p@ssword", "p@ssw0rd",
    "p@ssw0rd1", "p@ssword1", "p@ssword123", "pa$$word", "pa$$w0rd", "pass1234", "pass12345",
    "passpass", "passwort", "passwort1", "passwort123", "motdepasse", "contrasena", "wachtwoord",
    "mypassword", "thepassword", "yourpassword", "newpassword", "nopassword", "secret123",
    "secretsecret", "topsecret", "changeme", "changeme1", "changeme123", "changeit", "letmein1",
    "letmein123", "letmeinnow", "openup123", "opensesame", "welcome1", "welcome12", "welcome123",
    "welcome!", "welcome1!", "welcome2024", "welcome2025", "welcome2026", "default1",
    "default123", "defaultpassword", "temporary", "temp1234", "test1234", "test12345", "testtest",
    "testing1", "testing123", "tester123", "guest123", "guestguest", "user1234", "username",
    "admin123", "admin1234", "admin12345", "adminadmin", "administrator", "admin@123", "admin2025",
    "admin2026", "root1234", "rootroot", "toor1234", "superuser", "sysadmin", "manager1",
    "operator", "support1", "service1", "database", "postgres", "computer", "computer1",
    "internet", "internet1", "security", "security1", "server123", "system123", "network1",
    "ferryhook", "ferryhook1", "ferryhook123", "webhooks", "webhook1", "webhook123", "koohyrref",
    "iloveyou", "iloveyou1", "iloveyou2", "iloveyou!", "ilovegod", "lovelove", "loveyou1",
    "loveme123", "babygirl", "babygirl1", "sunshine", "sunshine1", "princess", "princess1",
    "football", "football1", "baseball", "baseball1", "basketball", "softball", "superman",
    "superman1", "batman123", "spiderman", "starwars", "starwars1", "pokemon1", "pokemon123",
    "nintendo", "playstation", "minecraft", "minecraft1", "fortnite1", "dragon123", "dragonball",
    "michael1", "jennifer", "jordan23", "jessica1", "ashley12", "danielle", "alexander",
    "christian", "elizabeth", "charlie1", "thomas123", "samantha", "victoria", "veronica",
    "butterfly", "chocolate", "chocolate1", "cookie123", "cheese123", "computer123", "whatever",
    "whatever1", "trustno1", "nothing1", "anything", "something", "hello123", "hello1234",
    "hellohello", "helloworld", "helloworld1", "goodbye1", "freedom1", "friends1", "monkey123",
    "shadow123", "master123", "mustang1", "corvette", "mercedes", "porsche911", "ferrari1",
    "liverpool", "liverpool1", "chelsea1", "arsenal1", "barcelona", "realmadrid", "manutd123",
    "bayern123", "juventus", "summer2024", "summer2025", "summer2026", "winter2024", "winter2025",
    "winter2026", "spring2025", "spring2026", "autumn2025", "autumn2026", "january1",
    "december", "december1", "november", "september", "monday123", "correcthorse",
    "correcthorsebatterystaple", "11111111a", "a11111111", "zzzzzzzz", "xxxxxxxx", "qqqqqqqq",
    "asdasdasd", "qazqazqaz", "q1q1q1q1", "google123", "facebook1", "linkedin1", "amazon123",
    "microsoft", "samsung1", "iphone123", "android1", "blink182", "metallica", "slipknot",
    "nirvana1", "rockstar", "rockyou1", "snoopy123", "scooter1", "hunter123", "killer123",
    "fuckyou1", "fuckyou123", "asshole1", "bullshit",
];

pub(super) fn is_common(lower: &str) -> bool {
    let first = lower.chars().next();
    let is_one_letter = first.is_some_and(|first| lower.chars().all(|c| c == first));
    is_one_letter || LIST.contains(&lower)
}
