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
  for (let at = heading.nextElementSibling; at && !/^H[123]$/.test(at.tagName); at = at.nextElementSibling) {
    own += " " + at.textContent;
  }
  const title = heading.textContent;
  return own === "" ? [] : [{ id: heading.id, title, text: (title + own).toLowerCase() }];
});

function show() {
  const asked = words.value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (chapter) => asked.every((word) => chapter.text.includes(word));
  const inTitle = (chapter) => asked.filter((word) => chapter.title.toLowerCase().includes(word)).length;
  const fitting = asked.length === 0 ? [] : chapters.filter(fits);
  fitting.sort((a, b) => inTitle(b) - inTitle(a));
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
