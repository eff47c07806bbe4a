// Searches the page that it is on: each chapter below a heading of the second or third level, by all the words that are typed.
const box = document.getElementById("search");
const words = document.getElementById("search-words");
const found = document.getElementById("search-found");
const said = document.getElementById("search-said");
const AT_MOST = 30;

// The list of contents has every chapter's name, and a heading with nothing of its own only the names of those below it.
const headings = [...document.querySelectorAll("h2[id]:not(#contents), h3[id]")];
const chapters = headings.flatMap((heading) => {
  let own = "";
  const explained = new Set();
  for (let at = heading.nextElementSibling; at && !/^H[123]$/.test(at.tagName); at = at.nextElementSibling) {
    own += " " + at.textContent;
    for (const first of at.querySelectorAll("th[scope=row]")) explained.add(first.textContent.trim().toLowerCase());
  }
  const title = heading.textContent;
  return own === "" ? [] : [{ id: heading.id, title, text: (title + own).toLowerCase(), explained }];
});

function show() {
  const asked = words.value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (chapter) => asked.every((word) => chapter.text.includes(word));
  // What is about a word comes before what only uses it: every endpoint names its error codes, and one table explains them.
  const isAbout = (chapter, word) => chapter.title.toLowerCase().includes(word) || chapter.explained.has(word);
  const about = (chapter) => asked.filter((word) => isAbout(chapter, word)).length;
  const fitting = asked.length === 0 ? [] : chapters.filter(fits);
  fitting.sort((a, b) => about(b) - about(a));
  const more = fitting.length - AT_MOST;
  said.textContent =
    asked.length > 0 && fitting.length === 0 ? "Nothing on this page has all of these words." : more > 0 ? `${more} more: type another word.` : "";
  found.replaceChildren(
    ...fitting.slice(0, AT_MOST).map((chapter) => {
      const link = document.createElement("a");
      link.href = "#" + chapter.id;
      link.textContent = chapter.title;
      const item = document.createElement("li");
      item.append(link);
      return item;
    }),
  );
}

words.addEventListener("input", show);
box.hidden = false;
